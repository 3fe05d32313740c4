//! Names → addresses → verdicts: what a sandbox may reach, decided and dialled outside of it.
//!
//! The sandbox has a network namespace with nothing but loopback. Sockets that listen in there are handed out
//! (`doors` says which); this crate accepts on them from outside, in a process of its own: an answerer for names, a
//! transparent relay, the two proxy protocols, and the model broker. No unsafe code, no policy language, no sandbox.
//! INVARIANT: what is decided on is what is dialled. INVARIANT (bounded): every buffer, queue and table has a limit.

pub mod broker;
pub mod host;
