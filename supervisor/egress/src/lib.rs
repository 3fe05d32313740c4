//! Names → addresses → verdicts: what a sandbox may reach, decided and dialled outside of it.
//!
//! The sandbox has a network namespace with nothing but loopback. Sockets that listen in there are handed out
//! (`doors` says which); this crate accepts on them from outside, in a process of its own: an answerer for names, a
//! transparent relay, the two proxy protocols, and the model broker. No unsafe code, no policy language, no sandbox.
//! INVARIANT: what is decided on is what is dialled. INVARIANT (bounded): every buffer, queue and table has a limit.

pub mod block;
pub mod book;
pub mod bound;
pub mod broker;
mod closing;
pub mod dial;
pub mod dns;
pub mod doors;
pub mod gate;
pub mod host;
pub mod http;
pub mod limits;
mod names;
pub mod proxy;
pub mod reach;
pub mod record;
pub mod refusal;
pub mod relay;
pub mod report;
mod rule;
pub mod rules;
pub mod serve;
mod sniff;
pub mod special;
pub mod tls;
pub mod window;

#[cfg(test)]
mod testing;
