//! The environment that this process was started with.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;

/// Overwrites variables in the memory that the kernel shows as `/proc/PID/environ` (proc(5)), which every
/// program of the same user can read. Their values stay in the environment, for this process and those
/// that it starts.
///
/// # Safety
/// No other thread runs yet: the environment is changed.
#[allow(unsafe_code)]
pub unsafe fn hide_variables(is_hidden: impl Fn(&str) -> bool) {
    for (name, value) in std::env::vars_os() {
        let Some(text) = name.to_str().filter(|name| is_hidden(name)) else {
            continue;
        };
        let Ok(c_name) = CString::new(text) else {
            continue;
        };
        // SAFETY: the old value is a C string that nothing else refers to once the variable has a copy; no
        // other thread runs, as the caller says.
        unsafe {
            let old = libc::getenv(c_name.as_ptr());
            if old.is_null() {
                continue;
            }
            let length = CStr::from_ptr(old).to_bytes().len();
            if length != value.as_bytes().len() {
                // Two variables of one name.
                continue;
            }
            std::env::set_var(&name, &value);
            if libc::getenv(c_name.as_ptr()) != old {
                std::ptr::write_bytes(old.cast::<u8>(), b'*', length);
            }
        }
    }
}
