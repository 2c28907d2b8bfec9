//! What the program itself takes of memory.

#[cfg(target_os = "linux")]
use std::io::BufRead;

/// Lets go of the pages of program text and constants, the program's and its libraries', that this
/// process has mapped so far (`MADV_DONTNEED`, madvise(2)), so that what ran once takes no memory beside what runs
/// later. They are the files' own: what runs again is mapped anew from the system's page cache, at a
/// microsecond or so for 64 KiB. Breakpoints that a debugger has set are lost. Gives the bytes of
/// address space that were looked through; none where the system has no list of them.
#[cfg(target_os = "linux")]
pub fn forget_program_text() -> usize {
    let Ok(maps) = std::fs::File::open("/proc/self/maps") else {
        return 0;
    };
    std::io::BufReader::new(maps)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| text_of_a_file(&line))
        .filter(|&(start, length)| forget(start, length))
        .map(|(_, length)| length)
        .sum()
}

/// Other systems tell it in other ways.
#[cfg(not(target_os = "linux"))]
pub fn forget_program_text() -> usize {
    0
}

/// Start and length of a mapping that is a file's code or constants, which nobody can have written to.
fn text_of_a_file(line: &str) -> Option<(usize, usize)> {
    // proc_pid_maps(5): addresses, permissions, offset, device, inode, path.
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let (permissions, offset) = (fields.next()?, fields.next()?);
    // Constants that the loader has filled in are read-only too, but lie behind the file's beginning,
    // which is its header (ld(1), "-z relro").
    let is_constant = permissions == "r--p" && offset.bytes().all(|digit| digit == b'0');
    if !(permissions == "r-xp" || is_constant) || fields.nth(1)? == "0" {
        return None;
    }
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    Some((start, end.checked_sub(start)?))
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn forget(start: usize, length: usize) -> bool {
    use nix::sys::mman::{MmapAdvise, madvise};
    let Some(start) = std::ptr::NonNull::new(start as *mut std::ffi::c_void) else {
        return false;
    };
    // SAFETY: the range is a whole mapping of a file, private, readable, executable and not writable:
    // its pages are as in the file, and come back from there when they are touched.
    unsafe { madvise(start, length, MmapAdvise::MADV_DONTNEED) }.is_ok()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn only_code_and_constants_of_files_are_forgotten() {
        let text = "5577a0000000-5577a0100000 r-xp 00042000 fe:00 131 /usr/bin/tidemark";
        let constants = "5577a0000000-5577a0100000 r--p 00000000 fe:00 131 /usr/bin/tidemark";
        for forgotten in [text, constants] {
            assert_eq!(
                text_of_a_file(forgotten),
                Some((0x5577_a000_0000, 0x10_0000))
            );
        }
        for other in [
            "5577a0000000-5577a0100000 r--p 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 rw-p 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 rwxp 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 r-xs 00042000 fe:00 131 /usr/bin/tidemark",
            "7ffc1f3f2000-7ffc1f3f4000 r-xp 00000000 00:00 0 [vdso]",
            "7f0000000000-7f0000001000 r-xp 00000000 00:00 0",
            "7ffc1f3ee000-7ffc1f3f2000 r--p 00000000 00:00 0 [vvar]",
            "",
            "r-xp",
            "5577a0100000-5577a0000000 r-xp 00042000 fe:00 131 /usr/bin/tidemark",
            "zz-5577a0100000 r-xp 00042000 fe:00 131 /usr/bin/tidemark",
        ] {
            assert_eq!(text_of_a_file(other), None, "{other}");
        }
    }

    /// Memory of this program's own code, in kB (proc_pid_smaps(5)).
    fn resident_text() -> u64 {
        let own = std::env::current_exe().unwrap();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps
            .lines()
            .skip_while(|line| !(line.contains(" r-xp ") && line.ends_with(own.to_str().unwrap())));
        let rss = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        rss.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn forgotten_text_is_not_resident_and_runs_all_the_same() {
        let before = resident_text();
        assert!(forget_program_text() > 0);
        let after = resident_text();
        assert!(after < before, "{before} kB, then {after} kB");
    }
}
