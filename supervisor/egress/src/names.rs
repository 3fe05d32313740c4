//! Enters the names that the answerer refused in the ledger.
//!
//! Touches the ledger only, which bounds what it keeps.

use std::sync::Arc;

use crate::dns::{NameRefusal, RefusedName, Sink};
use crate::record::{Ledger, Via};
use crate::refusal::{Kind, NOT_ALLOWED, Refusal};

/// Enters the names that were asked for and refused.
#[derive(Debug)]
pub(crate) struct NameSink(pub(crate) Arc<Ledger>);

impl Sink for NameSink {
    fn refused(&self, name: RefusedName) {
        let forbidden = |reason: &str, rule, hint| Refusal {
            rule,
            hint,
            ..Refusal::new(Kind::Forbidden, reason)
        };
        let refusal = match name.why {
            NameRefusal::NotAllowed { hint } => forbidden(NOT_ALLOWED, None, Some(hint)),
            NameRefusal::Denied { rule, hint } => {
                forbidden("a deny rule of the policy forbids it", Some(rule), Some(hint))
            }
            NameRefusal::TooMany => Refusal::new(Kind::Busy, "too many names were asked for"),
            NameRefusal::NotAHost(problem) => Refusal::new(Kind::BadRequest, problem.to_string()),
        };
        self.0.refuse(Via::Dns, &name.name, 0, &refusal);
    }
}
