use super::*;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).expect("a layout")
}

fn alloc(heap: &Heap, size: usize) -> *mut u8 {
    // SAFETY: the size is not zero.
    unsafe { heap.alloc(layout(size)) }
}

fn free(heap: &Heap, block: *mut u8, size: usize) {
    // SAFETY: the tests give back what they were given, once.
    unsafe { heap.dealloc(block, layout(size)) }
}

#[test]
fn only_the_newest_block_is_used_again() {
    let heap = Box::new(Heap::new());
    let (first, second) = (alloc(&heap, 100), alloc(&heap, 50));
    assert_eq!(second as usize - first as usize, 104);
    free(&heap, first, 100);
    let third = alloc(&heap, 8);
    assert_eq!(third as usize - second as usize, 56);
    free(&heap, third, 8);
    assert_eq!(alloc(&heap, 16), third);
}

#[test]
fn the_newest_block_grows_and_shrinks_where_it_is() {
    let heap = Box::new(Heap::new());
    let first = alloc(&heap, 16);
    // SAFETY: a live block, its layout, and a size above zero; so are those below.
    let grown = unsafe { heap.realloc(first, layout(16), 4096) };
    assert_eq!(grown, first);
    // SAFETY: a live block of the test's own, and its size.
    let shrunk = unsafe { heap.realloc(first, layout(4096), 32) };
    assert_eq!(shrunk, first);
    let second = alloc(&heap, 8);
    assert_eq!(second as usize - first as usize, 32);
    // Not the newest any more: it moves, with what is in it.
    // SAFETY: a live block of the test's own, and its size.
    unsafe { first.write_bytes(7, 32) };
    // SAFETY: a live block of the test's own, and its size.
    let moved = unsafe { heap.realloc(first, layout(32), 64) };
    assert_ne!(moved, first);
    // SAFETY: a live block of the test's own, and its size.
    let bytes = unsafe { std::slice::from_raw_parts(moved, 32) };
    assert_eq!(bytes, [7; 32]);
}

#[test]
fn zeroed_memory_is_zero_also_where_somebody_was_before() {
    let heap = Box::new(Heap::new());
    let first = alloc(&heap, 64);
    // SAFETY: live and of that size.
    unsafe { first.write_bytes(9, 64) };
    free(&heap, first, 64);
    // SAFETY: the size is not zero.
    let second = unsafe { heap.alloc_zeroed(layout(64)) };
    assert_eq!(second, first);
    // SAFETY: live and of that size.
    assert_eq!(unsafe { std::slice::from_raw_parts(second, 64) }, [0; 64]);
}

#[test]
fn what_has_no_room_is_the_systems() {
    let heap = Box::new(Heap::new());
    assert_eq!(heap.place(alloc(&heap, LARGEST + 1)), None);
    let mut last = None;
    for _ in 0..SIZE / LARGEST {
        last = heap.place(alloc(&heap, LARGEST));
    }
    assert_eq!(last, Some(SIZE - LARGEST));
    let outside = alloc(&heap, 8);
    assert_eq!(heap.place(outside), None);
    free(&heap, outside, 8);
    let aligned = Layout::from_size_align(8, 8192).expect("a layout");
    // SAFETY: the size is not zero.
    let block = unsafe { heap.alloc(aligned) };
    assert_eq!(block as usize % 8192, 0);
}

#[test]
fn threads_never_share_a_byte() {
    let heap = Box::new(Heap::new());
    let heap = &*heap;
    std::thread::scope(|scope| {
        for thread in 1..=8_u8 {
            scope.spawn(move || {
                let mut seed = u64::from(thread);
                let mut held: Vec<(*mut u8, usize)> = Vec::new();
                for _ in 0..20_000 {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let size = 1 + (seed >> 33) as usize % 300;
                    match (seed >> 60) % 4 {
                        0 | 1 => {
                            let block = alloc(heap, size);
                            // SAFETY: live and of that size; so are all that are held.
                            unsafe { block.write_bytes(thread, size) };
                            held.push((block, size));
                        }
                        2 => {
                            if let Some((block, old)) = held.pop() {
                                // SAFETY: as above.
                                let block = unsafe { heap.realloc(block, layout(old), size) };
                                // SAFETY: a live block of the test's own, and its size.
                                unsafe { block.write_bytes(thread, size) };
                                held.push((block, size));
                            }
                        }
                        _ => {
                            if let Some((block, old)) = held.pop() {
                                // SAFETY: as above.
                                let bytes = unsafe { std::slice::from_raw_parts(block, old) };
                                assert!(bytes.iter().all(|byte| *byte == thread));
                                free(heap, block, old);
                            }
                        }
                    }
                }
            });
        }
    });
}
