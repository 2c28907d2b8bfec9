//! What the program itself takes of memory.

/// Lets go of the pages of program text and constants, the program's and its libraries', that this
/// process has mapped so far (`MADV_DONTNEED`, madvise(2)), so that what ran once takes no memory
/// beside what runs later. They are the files' own: what runs again is mapped anew from the system's page cache, at a
/// microsecond or so for 64 KiB. Breakpoints that a debugger has set are lost. Gives the bytes of
/// address space that were looked through; none where the system has no list of them.
#[cfg(target_os = "linux")]
pub fn forget_program_text() -> usize {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return 0;
    };
    let mappings: Vec<Mapping<'_>> = maps.lines().filter_map(Mapping::read).collect();
    let all = mappings.iter().filter(|one| one.is_of_program(&mappings));
    all.filter(|one| forget(one.start, one.length))
        .map(|one| one.length)
        .sum()
}

/// Other systems tell it in other ways.
#[cfg(not(target_os = "linux"))]
pub fn forget_program_text() -> usize {
    0
}

/// A mapping of a file (proc_pid_maps(5)).
#[cfg(target_os = "linux")]
struct Mapping<'m> {
    start: usize,
    length: usize,
    permissions: &'m str,
    is_first: bool,
    /// Device and inode.
    file: (&'m str, &'m str),
}

#[cfg(target_os = "linux")]
impl<'m> Mapping<'m> {
    /// One line: addresses, permissions, offset, device, inode, path.
    fn read(line: &'m str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let (permissions, offset) = (fields.next()?, fields.next()?);
        let file = (fields.next()?, fields.next()?);
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        (file.1 != "0").then_some(Self {
            start,
            length: end.checked_sub(start)?,
            permissions,
            is_first: offset.bytes().all(|digit| digit == b'0'),
            file,
        })
    }

    fn is_code(&self) -> bool {
        self.permissions == "r-xp"
    }

    /// Whether it is a program's or library's code or constants, which nobody has written to. What
    /// the loader fills in and then makes read-only lies behind the file's beginning, which is its
    /// header (ld(1), "-z relro").
    fn is_of_program(&self, all: &[Self]) -> bool {
        let is_constant = self.permissions == "r--p" && self.is_first;
        let is_program = || all.iter().any(|one| one.is_code() && one.file == self.file);
        self.is_code() || is_constant && is_program()
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn forget(start: usize, length: usize) -> bool {
    use nix::sys::mman::{MmapAdvise, madvise};
    let Some(start) = std::ptr::NonNull::new(start as *mut std::ffi::c_void) else {
        return false;
    };
    // SAFETY: the range is a whole mapping of a program's file, private and not writable, which the
    // loader writes nothing into: its pages are as in the file, and come back from there when they
    // are touched.
    unsafe { madvise(start, length, MmapAdvise::MADV_DONTNEED) }.is_ok()
}

/// Has threads that begin from now on share the heap of the first one (`M_ARENA_MAX`, mallopt(3)).
/// glibc gives each thread a heap of its own, eight a core at most, of which some tens of kB are
/// resident from the start: with a thread a session that was a tenth of a client's memory. The load
/// itself allocates nothing, so nobody waits for the one heap's lock. Other C libraries have one heap
/// anyway.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn share_one_heap() {
    // SAFETY: it sets a number inside the allocator, under the allocator's own lock.
    unsafe {
        nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1);
    }
}

/// Other C libraries have one heap.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_one_heap() {}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    const TEXT: &str = "5577a0000000-5577a0100000 r-xp 00042000 fe:00 131 /usr/bin/tidemark";
    const CONSTANTS: &str = "55779ff00000-55779ff42000 r--p 00000000 fe:00 131 /usr/bin/tidemark";

    fn is_forgotten(line: &str, beside: &[&str]) -> bool {
        let all: Vec<_> = beside
            .iter()
            .filter_map(|line| Mapping::read(line))
            .collect();
        Mapping::read(line).is_some_and(|one| one.is_of_program(&all))
    }

    #[test]
    fn only_code_and_constants_of_programs_are_forgotten() {
        let text = Mapping::read(TEXT).unwrap();
        assert_eq!((text.start, text.length), (0x5577_a000_0000, 0x10_0000));
        for forgotten in [TEXT, CONSTANTS] {
            assert!(is_forgotten(forgotten, &[CONSTANTS, TEXT]), "{forgotten}");
        }
        for other in [
            "5577a0000000-5577a0100000 r--p 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 rw-p 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 rwxp 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 r-xs 00042000 fe:00 131 /usr/bin/tidemark",
            "5577a0000000-5577a0100000 r--p 00000000 fe:00 132 /var/lib/some.db",
            "5577a0000000-5577a0100000 r--p 00000000 fe:01 131 /var/lib/other.db",
            "7ffc1f3f2000-7ffc1f3f4000 r-xp 00000000 00:00 0 [vdso]",
            "7ffc1f3ee000-7ffc1f3f2000 r--p 00000000 00:00 0 [vvar]",
            "7f0000000000-7f0000001000 r-xp 00000000 00:00 0",
            "",
            "r-xp",
            "5577a0100000-5577a0000000 r-xp 00042000 fe:00 131 /usr/bin/tidemark",
            "zz-5577a0100000 r-xp 00042000 fe:00 131 /usr/bin/tidemark",
        ] {
            assert!(!is_forgotten(other, &[CONSTANTS, TEXT]), "{other}");
        }
    }

    /// Memory of this program's own mappings with these permissions, in kB (proc_pid_smaps(5)).
    fn resident(permissions: &str) -> u64 {
        let own = std::env::current_exe().unwrap();
        let is_own =
            |line: &&str| line.contains(permissions) && line.ends_with(own.to_str().unwrap());
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines().skip_while(|line| !is_own(line));
        let rss = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
        rss.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn what_is_forgotten_is_not_resident_and_the_same_when_it_comes_back() {
        // The first of each: constants before code, code before what the loader fills in.
        let before = [" r--p 00000000 ", " r-xp "].map(resident);
        let words: Vec<String> = (0..100).map(|n| format!("constant {n}")).collect();
        assert!(forget_program_text() > 0);
        let after = [" r--p 00000000 ", " r-xp "].map(resident);
        assert!(
            after[0] < before[0] && after[1] < before[1],
            "{before:?} kB, then {after:?} kB"
        );
        let again: Vec<String> = (0..100).map(|n| format!("constant {n}")).collect();
        assert_eq!(again, words);
    }
}
