//! Memory for a program that lives a few milliseconds and is copied twice meanwhile.
//!
//! The first blocks are cut one after the other from a region of fixed size, and only the newest can be given back; when it is used
//! up, the C library's heap serves the rest. A run seldom needs more: nothing is searched, and a copy of the process writes to fresh
//! pages instead of having page after page of old ones copied because a free block in it was used again.
//! INVARIANT: blocks of the region never overlap: `taken` only moves by an exchange that nobody else saw, over bytes that were free or
//! belonged to the newest block.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More than a run needs, and little for a server to waste.
const SIZE: usize = 256 * 1024;

/// Larger blocks are the system's: one buffer must not use the region up.
const LARGEST: usize = 16 * 1024;

#[repr(align(4096))]
struct Region(UnsafeCell<[u8; SIZE]>);

/// The program's allocator.
#[derive(Debug)]
pub struct Heap {
    region: Region,
    /// How many bytes of the region are in use, or were.
    taken: AtomicUsize,
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Region")
    }
}

// SAFETY: the bytes are only handed out, each to one owner at a time by the invariant above; `taken` is atomic.
unsafe impl Sync for Heap {}

impl Heap {
    /// Empty. A program has one.
    #[expect(clippy::new_without_default, reason = "made once, as a static")]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            region: Region(UnsafeCell::new([0; SIZE])),
            taken: AtomicUsize::new(0),
        }
    }

    fn start(&self) -> *mut u8 {
        self.region.0.get().cast()
    }

    /// Where in the region a block lies, if it does.
    fn place(&self, block: *mut u8) -> Option<usize> {
        let place = (block as usize).wrapping_sub(self.start() as usize);
        (place < SIZE).then_some(place)
    }

    /// Moves the end of what is taken. False if somebody else was faster, or if `from` is not the end.
    fn move_end(&self, from: usize, to: usize) -> bool {
        // Whoever gets bytes that another thread gave back also gets what that one did to them before.
        let moved = self
            .taken
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
        moved.is_ok()
    }

    fn cut(&self, layout: Layout) -> Option<*mut u8> {
        loop {
            let end = self.taken.load(Ordering::Relaxed);
            // The region itself is aligned to a page; for more than that it is not the place.
            let at = end.checked_next_multiple_of(layout.align())?;
            let new = at.checked_add(layout.size())?;
            if new > SIZE || layout.size() > LARGEST || layout.align() > align_of::<Region>() {
                return None;
            }
            if self.move_end(end, new) {
                // SAFETY: `at` is below the region's size, checked above.
                return Some(unsafe { self.start().add(at) });
            }
        }
    }
}

// SAFETY: blocks are aligned, as large as asked for, and live until given back, by the invariant of this module; what is not of
// the region is the system's from beginning to end.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.cut(layout) {
            Some(block) => block,
            // SAFETY: the caller's promise about `layout` is passed on.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(block) = self.cut(layout) else {
            // SAFETY: the caller's promise about `layout` is passed on.
            return unsafe { System.alloc_zeroed(layout) };
        };
        // SAFETY: a block of that size which nobody else has. It may have been somebody's before.
        unsafe { block.write_bytes(0, layout.size()) };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.place(block) {
            // If it is the newest; others are not used again.
            Some(place) => drop(self.move_end(place + layout.size(), place)),
            // SAFETY: not of the region, so the system made it, with this layout by the caller's promise.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(place) = self.place(block) else {
            // SAFETY: not of the region; the caller's promises are passed on.
            return unsafe { System.realloc(block, layout, size) };
        };
        let (old, new) = (place + layout.size(), place.saturating_add(size));
        if (new <= SIZE && size <= LARGEST && self.move_end(old, new)) || size <= layout.size() {
            return block;
        }
        // SAFETY: the caller promises that `size` is valid for this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: `wanted` has a size above that of `layout`, so above zero.
        let other = unsafe { self.alloc(wanted) };
        if !other.is_null() {
            // SAFETY: both are live and at least as long as the smaller, which `layout` is; a new block overlaps no live one.
            unsafe { std::ptr::copy_nonoverlapping(block, other, layout.size()) };
        }
        other
    }
}

#[cfg(test)]
#[path = "heap_tests.rs"]
mod tests;
