//! Names: the answerer for the sandbox, which never forwards anything, and the resolver outside.

pub mod answer;
mod conf;
mod frame;
pub mod message;
pub mod resolver;
mod response;
pub mod serve;
mod wire;

pub use answer::{Answer, Families, NameRefusal, RefusedName, answer};
pub use resolver::{ResolveError, Resolver, Servers};
pub use serve::{Answerer, Sink, serve_tcp, serve_udp};
