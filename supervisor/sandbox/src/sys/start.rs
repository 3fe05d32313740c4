//! The C library's own start, without its questions to the processor: it asks some seventy to choose among copies of `memcpy` and to
//! know the sizes of the caches, and on a virtual machine each of them leaves that machine (docs/decisions/0029).
//!
//! The steps and their order are those of the static glibc that build.rs has recognised; without it this file is not compiled and the
//! library's own start is linked. What it would have chosen stays at what every processor has.
//! INVARIANT: up to `relocate` nothing here calls what the library chooses (`memcpy` and its like), nor reads a thread's own memory.

use std::ffi::{c_char, c_int, c_void};

/// The program's `main`, as the library's start is given it.
pub type Main = extern "C" fn(c_int, *const *const u8) -> c_int;
/// As the linker lists what has to be done before `main`.
type Before = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char);
type After = unsafe extern "C" fn();
/// Chooses a function, and returns its address.
type Resolver = unsafe extern "C" fn() -> usize;

/// A relocation, as the linker lists those whose target has to be asked for.
#[repr(C)]
struct Rela {
    offset: usize,
    info: u64,
    addend: usize,
}

/// For a kernel before 5.14, which does not say it: more than any processor's registers take.
const SIGNAL_STACK: usize = 16 * 1024;
/// `HWCAP_X86_64`: what the library knows when it knows nothing else.
const PLAIN: u64 = 1 << 1;

unsafe extern "C" {
    // The library's own, hidden but in the archive.
    static mut __environ: *const *const c_char;
    static mut __libc_stack_end: *mut c_void;
    static mut _dl_minsigstacksize: usize;
    static mut _dl_hwcap: u64;
    static mut _dl_platform: *const c_char;
    static _dl_random: *const u64;
    static __libc_enable_secure: c_int;
    fn _dl_aux_init(vector: *const c_void);
    fn __tunables_init(environment: *const *const c_char);
    fn _dl_relocate_static_pie();
    fn __libc_setup_tls();
    fn __libc_early_init(initial: bool);
    fn __libc_init_first(count: c_int, arguments: *const *const c_char, environment: *const *const c_char);
    fn __libc_check_standard_fds();
    fn __cxa_atexit(function: extern "C" fn(*mut c_void), argument: *mut c_void, handle: *mut c_void) -> c_int;
    fn _dl_debug_initialize(base: usize, namespace: isize) -> *mut c_void;
    fn _init();
    fn _fini();
    // The linker's.
    static __rela_iplt_start: [Rela; 0];
    static __rela_iplt_end: [Rela; 0];
    static __preinit_array_start: [Before; 0];
    static __preinit_array_end: [Before; 0];
    static __init_array_start: [Before; 0];
    static __init_array_end: [Before; 0];
    static __fini_array_start: [After; 0];
    static __fini_array_end: [After; 0];
}

/// Makes the library ready, runs `main` and ends the process with its status.
///
/// # Safety
/// For the first code of a process, with what the kernel left on its stack.
pub unsafe fn start(main: Main, count: c_int, arguments: *const *const c_char, stack_end: *mut c_void) -> ! {
    let words = usize::try_from(count).unwrap_or_default();
    // SAFETY: the kernel lays the environment behind the arguments and a null.
    let environment = unsafe { arguments.add(words + 1) };
    set(&raw mut __environ, environment);
    set(&raw mut __libc_stack_end, stack_end);
    // SAFETY: behind the null that ends the environment the kernel lays the vector.
    unsafe { _dl_aux_init(behind(environment).cast()) };
    // SAFETY: the environment ends with a null.
    unsafe { __tunables_init(environment) };
    plain();
    // SAFETY: does nothing in a program that lies where it was linked for, and ours does.
    unsafe { _dl_relocate_static_pie() };
    relocate();
    // SAFETY: the relocations are done, which it needs; once in a process.
    unsafe { __libc_setup_tls() };
    guards();
    // SAFETY: threads' memory is there; this is the program's one library.
    unsafe { __libc_early_init(true) };
    // SAFETY: the vectors are the kernel's.
    unsafe { __libc_init_first(count, arguments, environment) };
    let none = std::ptr::null_mut();
    // SAFETY: the function lives as long as the program; null names the program itself.
    let _ = unsafe { __cxa_atexit(after, none, none) };
    // SAFETY: an integer that the library set in `_dl_aux_init`.
    if unsafe { __libc_enable_secure } != 0 {
        // SAFETY: no argument; ends the process if it cannot open what is missing.
        unsafe { __libc_check_standard_fds() };
    }
    before(count, arguments, environment);
    // SAFETY: for debuggers: an address and a number that are the program's own.
    let _ = unsafe { _dl_debug_initialize(0, 0) };
    let status = main(count, arguments.cast());
    // SAFETY: runs what was registered, and does not return.
    unsafe { libc::exit(status) }
}

/// The first word behind a null.
fn behind(mut list: *const *const c_char) -> *const *const c_char {
    loop {
        // SAFETY: the caller's list ends with a null, which was not passed yet.
        let word = unsafe { list.read() };
        // SAFETY: at most one behind that null.
        list = unsafe { list.add(1) };
        if word.is_null() {
            return list;
        }
    }
}

/// What the library would have learned from the processor.
fn plain() {
    let size = &raw mut _dl_minsigstacksize;
    // SAFETY: the library's own word, and nobody else runs yet.
    if unsafe { size.read() } == 0 {
        set(size, SIGNAL_STACK);
    }
    set(&raw mut _dl_hwcap, PLAIN);
    // What the library has for a processor without a name.
    set(&raw mut _dl_platform, std::ptr::null());
}

/// Gives a word of the library's a value.
fn set<T>(place: *mut T, value: T) {
    // SAFETY: every caller names a static of the library's of this type, and nobody else runs yet.
    unsafe { place.write(value) };
}

/// Asks for each function of which there are several which one it is.
fn relocate() {
    let mut at = (&raw const __rela_iplt_start).cast::<Rela>();
    let end = (&raw const __rela_iplt_end).cast::<Rela>();
    while at < end {
        // SAFETY: between the linker's two marks there are whole entries.
        let Rela { offset, addend, .. } = unsafe { at.read() };
        // SAFETY: all of these entries are of the one kind (`R_X86_64_IRELATIVE`), whose addend is a function of this type.
        let resolver = unsafe { std::mem::transmute::<usize, Resolver>(addend) };
        // SAFETY: it reads what the library knows of the processor, which is nothing, and no more.
        let chosen = unsafe { resolver() };
        // SAFETY: the linker made the word at `offset` for this address, and it is writable until then.
        unsafe { (offset as *mut usize).write(chosen) };
        // SAFETY: at most to the end mark.
        at = unsafe { at.add(1) };
    }
}

/// The two secrets of a process that compiled code looks for beside its thread.
fn guards() {
    // SAFETY: the library's pointer to the kernel's sixteen bytes, or null.
    let random = unsafe { _dl_random };
    let [stack, pointer] = if random.is_null() {
        [0xff0a_0000_0000_0000, 0xff0a_0000_0000_0000]
    } else {
        // SAFETY: sixteen bytes, of which this is the first half; the kernel aligns nothing here.
        let first = unsafe { random.read_unaligned() };
        // SAFETY: the second half's address.
        let second = unsafe { random.add(1) };
        // SAFETY: as for the first.
        [first & !0xff, unsafe { second.read_unaligned() }]
    };
    // SAFETY: the thread's memory was just made, and has these words for it.
    unsafe { std::arch::asm!("mov fs:[0x28], {}", in(reg) stack, options(nostack, preserves_flags)) };
    // SAFETY: as above.
    unsafe { std::arch::asm!("mov fs:[0x30], {}", in(reg) pointer, options(nostack, preserves_flags)) };
}

/// What the linker lists to be done before `main`: the language's own is there too.
fn before(count: c_int, arguments: *const *const c_char, environment: *const *const c_char) {
    let early = [
        (&raw const __preinit_array_start).cast(),
        (&raw const __preinit_array_end).cast(),
    ];
    let late = [
        (&raw const __init_array_start).cast(),
        (&raw const __init_array_end).cast(),
    ];
    let each = |[mut at, end]: [*const Before; 2]| {
        while at < end {
            // SAFETY: between the linker's two marks there are whole addresses.
            let function = unsafe { at.read() };
            // SAFETY: the linker lists functions of this type, for this moment.
            unsafe { function(count, arguments, environment) };
            // SAFETY: at most to the end mark.
            at = unsafe { at.add(1) };
        }
    };
    each(early);
    // SAFETY: no argument, once, before the list that follows.
    unsafe { _init() };
    each(late);
}

/// What the linker lists to be done after `main`, the last first.
extern "C" fn after(_nothing: *mut c_void) {
    let start = (&raw const __fini_array_start).cast::<After>();
    let mut at = (&raw const __fini_array_end).cast::<After>();
    while at > start {
        // SAFETY: there is one more before this.
        at = unsafe { at.sub(1) };
        // SAFETY: between the linker's two marks there are whole addresses.
        let function = unsafe { at.read() };
        // SAFETY: the linker lists functions of this type, for this moment.
        unsafe { function() };
    }
    // SAFETY: no argument, once, after that list.
    unsafe { _fini() };
}

/// Puts the start in the place of the library's: the program has to define all that the library's own file would.
#[macro_export]
macro_rules! library_start {
    () => {
        /// Called by the first code of the process.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn __libc_start_main(
            main: $crate::sys::start::Main,
            count: i32,
            arguments: *const *const std::ffi::c_char,
            _init: usize,
            _fini: usize,
            _loader: usize,
            stack_end: *mut std::ffi::c_void,
        ) -> ! {
            // SAFETY: nothing but the start of the process calls this.
            unsafe { $crate::sys::start::start(main, count, arguments, stack_end) }
        }

        // From which sizes the library copies in other ways: its own values for a processor about which it knows nothing.
        #[unsafe(no_mangle)]
        pub static __x86_data_cache_size: i64 = 32 << 10;
        #[unsafe(no_mangle)]
        pub static __x86_data_cache_size_half: i64 = 16 << 10;
        #[unsafe(no_mangle)]
        pub static __x86_shared_cache_size: i64 = 1 << 20;
        #[unsafe(no_mangle)]
        pub static __x86_shared_cache_size_half: i64 = 512 << 10;
        #[unsafe(no_mangle)]
        pub static __x86_shared_non_temporal_threshold: i64 = 3 << 20;
        #[unsafe(no_mangle)]
        pub static __x86_rep_movsb_threshold: i64 = 2048;
        #[unsafe(no_mangle)]
        pub static __x86_rep_stosb_threshold: i64 = 2048;
        #[unsafe(no_mangle)]
        pub static __x86_rep_movsb_stop_threshold: i64 = 3 << 20;
        #[unsafe(no_mangle)]
        pub static __x86_string_control: i32 = 0;
    };
}
