//! Memory: blocks that are written or read word by word.

use crate::random::{Random, next_of_thread, seed_thread};
use crate::{HostError, TestEvent, TestThread};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What its events are called.
pub const KINDS: &[&str] = &["event"];

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// What is done to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Each word is read.
    Read,
    /// Each word is written.
    Write,
    /// Nothing: what the test itself costs.
    None,
}

/// A memory test.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Bytes of a block, a power of two.
    pub block: usize,
    /// What is done to it.
    pub operation: Operation,
    /// Whether words are taken at random, as many as there are.
    pub random: bool,
    /// Whether all threads have one block.
    pub global: bool,
    /// Whether blocks are of huge pages.
    pub huge: bool,
    /// Of the random order.
    pub seed: u64,
}

/// One thread of the test.
pub struct Memory {
    spec: Spec,
    block: Arc<Block>,
    /// What its thread's random numbers begin with, before its first event.
    seed: Option<Random>,
}

/// The test's threads.
///
/// # Errors
/// [`HostError::System`] when there is no memory.
pub fn memory(count: usize, spec: Spec) -> Result<Vec<Memory>, HostError> {
    let make = || Block::new(spec.block, spec.huge).map(Arc::new);
    let shared = match spec.global {
        true => Some(make()?),
        false => None,
    };
    let one = |thread: usize| {
        Ok(Memory {
            spec,
            block: match &shared {
                Some(block) => Arc::clone(block),
                None => make()?,
            },
            seed: Some(Random::new(spec.seed, thread as u64)),
        })
    };
    (0..count).map(one).collect()
}

impl TestThread for Memory {
    fn event(&mut self, _cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError> {
        if let Some(mut seed) = self.seed.take() {
            seed_thread(&mut seed);
        }
        let words = self.block.words();
        match (self.spec.operation, self.spec.random) {
            (Operation::None, _) => {}
            (Operation::Write, false) => write(words),
            (Operation::Read, false) => read(words),
            (Operation::Write, true) => write_at_random(words),
            (Operation::Read, true) => read_at_random(words),
        }
        Ok(Some(TestEvent::of(0)))
    }
}

// Relaxed accesses are plain ones to the processor, and are neither left out nor made wider by the
// compiler; threads may share a block.

/// A store for each turn of the loop, as sysbench was seen to take as long as a processor takes for a
/// turn; a compiler would make several.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(never)]
fn write(words: &[AtomicU64]) {
    let words = words.as_ptr_range();
    // There is one word at least.
    // SAFETY: stores of eight bytes, aligned, from the first word to the last; atomics may be written
    // through a shared reference, and such a store is atomic.
    unsafe {
        std::arch::asm!(
            // A loop that lies across two lines of the instruction cache takes half as long again.
            ".p2align 5",
            "2:",
            "mov qword ptr [{next}], {value}",
            "add {next}, 8",
            "cmp {next}, {end}",
            "jb 2b",
            next = inout(reg) words.start => _,
            end = in(reg) words.end,
            value = in(reg) 0u64,
            options(nostack),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn write(words: &[AtomicU64]) {
    let value = black_box(0);
    for word in words {
        word.store(value, Ordering::Relaxed);
    }
}

/// Two loads for each turn of the loop: as many as a processor makes in the time of one, and as fast as
/// sysbench was seen to read.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(never)]
fn read(words: &[AtomicU64]) {
    let [_, _, ..] = words else {
        words.iter().for_each(|word| {
            black_box(word.load(Ordering::Relaxed));
        });
        return;
    };
    let words = words.as_ptr_range();
    // A power of two that is not one: pairs.
    // SAFETY: loads of eight bytes, aligned, from the first word to the last.
    unsafe {
        std::arch::asm!(
            ".p2align 5",
            "2:",
            "mov {value}, qword ptr [{next}]",
            "mov {value}, qword ptr [{next} + 8]",
            "add {next}, 16",
            "cmp {next}, {end}",
            "jb 2b",
            next = inout(reg) words.start => _,
            end = in(reg) words.end,
            value = out(reg) _,
            options(nostack, readonly),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn read(words: &[AtomicU64]) {
    let mut last = 0;
    for word in words {
        last = word.load(Ordering::Relaxed);
    }
    black_box(last);
}

#[inline(never)]
fn write_at_random(words: &[AtomicU64]) {
    let value = black_box(0);
    let count = words.len() as f64;
    for _ in 0..words.len() {
        if let Some(word) = words.get(at_random(count)) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

#[inline(never)]
fn read_at_random(words: &[AtomicU64]) {
    let count = words.len() as f64;
    for _ in 0..words.len() {
        if let Some(word) = words.get(at_random(count)) {
            black_box(word.load(Ordering::Relaxed));
        }
    }
}

/// A number below `count`, by a call and a floating-point product: what a word at random costs is mostly
/// this, with sysbench too.
#[allow(unsafe_code)]
#[inline(always)]
fn at_random(count: f64) -> usize {
    // 52 bits as a number from one to below two.
    let share = f64::from_bits((0x3FF << 52) | (next_of_thread() >> 12)) - 1.0;
    // SAFETY: from 0 to below a number of words of memory.
    unsafe { (share * count).to_int_unchecked::<i64>() as usize }
}

/// Memory that threads may share.
enum Block {
    Heap(Vec<AtomicU64>),
    Huge(HugePages),
}

impl Block {
    fn new(bytes: usize, huge: bool) -> Result<Self, HostError> {
        if huge {
            return HugePages::new(bytes).map(Block::Huge);
        }
        let count = (bytes / WORD).max(1);
        let mut words = Vec::new();
        words
            .try_reserve_exact(count)
            .map_err(|_| HostError::System {
                what: format!("{bytes} bytes of memory for --memory-block-size"),
                error: std::io::ErrorKind::OutOfMemory.into(),
            })?;
        // Written, so that its pages are there before they are measured.
        words.resize_with(count, || AtomicU64::new(0));
        Ok(Block::Heap(words))
    }

    #[inline]
    fn words(&self) -> &[AtomicU64] {
        match self {
            Block::Heap(words) => words,
            Block::Huge(pages) => pages.words(),
        }
    }
}

/// Pages of the HugeTLB pool.
struct HugePages {
    start: *mut libc::c_void,
    bytes: usize,
    words: usize,
}

// SAFETY: its words are atomic, and it is unmapped when nobody has it any more.
#[allow(unsafe_code)]
unsafe impl Send for HugePages {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for HugePages {}

/// Of x86-64 and most others; the kernel refuses a length that is no multiple of its own.
const HUGE_PAGE: usize = 2 << 20;

impl HugePages {
    #[allow(unsafe_code)]
    fn new(bytes: usize) -> Result<Self, HostError> {
        let length = bytes.next_multiple_of(HUGE_PAGE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of no file.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(HostError::System {
                what: format!(
                    "--memory-hugetlb=on: no {length} bytes of huge pages (reserve them: sysctl \
                     vm.nr_hugepages={})",
                    length / HUGE_PAGE
                ),
                error: std::io::Error::last_os_error(),
            });
        }
        Ok(Self {
            start,
            bytes: length,
            words: (bytes / WORD).max(1),
        })
    }

    #[allow(unsafe_code)]
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is that long, aligned to a page, zeroed, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.words) }
    }
}

impl Drop for HugePages {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody has it any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: Spec = Spec {
        block: 1024,
        operation: Operation::Write,
        random: false,
        global: true,
        huge: false,
        seed: 1,
    };

    fn words_after(spec: Spec) -> Vec<u64> {
        let mut all = memory(1, spec).unwrap();
        let words = |test: &Memory| {
            let words = test.block.words().iter();
            words.map(|w| w.load(Ordering::Relaxed)).collect::<Vec<_>>()
        };
        for word in all[0].block.words() {
            word.store(7, Ordering::Relaxed);
        }
        all[0].event(&AtomicBool::new(false)).unwrap();
        words(&all[0])
    }

    #[test]
    fn a_write_writes_every_word_and_a_read_none() {
        assert_eq!(words_after(SPEC), [0; 128]);
        let none = Spec {
            operation: Operation::Read,
            ..SPEC
        };
        assert_eq!(words_after(none), [7; 128]);
        let random = Spec {
            random: true,
            ..SPEC
        };
        // Of 128 words at random 1 - 1/e are hit: 81, give or take 5.
        let hit = words_after(random).iter().filter(|w| **w == 0).count();
        assert!((50..110).contains(&hit), "{hit}");
    }

    #[test]
    fn a_global_block_is_one_and_local_ones_are_not() {
        let shares = |global| {
            let all = memory(2, Spec { global, ..SPEC }).unwrap();
            Arc::ptr_eq(&all[0].block, &all[1].block)
        };
        assert!(shares(true));
        assert!(!shares(false));
    }
}
