//! What a broker did, for the run's report.
//!
//! Touches nothing but memory. INVARIANT (bounded): words that came from the sandbox are kept up to a number and a length.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::{Failure, Refusal};
use super::usage::Tokens;

/// Distinct reasons that are kept.
const REASONS: usize = 32;
const LONGEST_REASON: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BrokerReport {
    pub endpoint: String,
    /// All that came, forwarded or not.
    pub requests: u64,
    pub refused: u64,
    /// Forwarded, and not answered to the end.
    pub failed: u64,
    /// Requests that came with another key than the placeholder. They went out with the user's own all the same.
    pub foreign_keys: u64,
    /// How often the key stood in an answer and was hidden.
    pub hidden: u64,
    /// All input, read from a cache or not.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The part of the input that was read from a cache.
    pub cached_tokens: u64,
    /// Of bodies, as are `bytes_down`.
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// Of the answers that came from the endpoint.
    pub statuses: BTreeMap<u16, u64>,
    /// Why requests were refused or failed.
    pub reasons: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
pub(super) struct Tally(RefCell<BrokerReport>);

impl Tally {
    pub(super) fn new(endpoint: String) -> Self {
        Self(RefCell::new(BrokerReport {
            endpoint,
            ..BrokerReport::default()
        }))
    }

    pub(super) fn report(&self) -> BrokerReport {
        self.0.borrow().clone()
    }

    pub(super) fn request(&self) {
        add(&mut self.0.borrow_mut().requests, 1);
    }

    pub(super) fn refused(&self, refusal: &Refusal) {
        add(&mut self.0.borrow_mut().refused, 1);
        self.reason(refusal.to_string());
    }

    /// A connection too many.
    pub(super) fn crowded(&self) {
        add(&mut self.0.borrow_mut().refused, 1);
        self.reason("too many connections at once".to_owned());
    }

    pub(super) fn failed(&self, failure: &Failure) {
        self.broken(failure.to_string());
    }

    /// An answer that began and did not end.
    pub(super) fn broken(&self, reason: String) {
        add(&mut self.0.borrow_mut().failed, 1);
        self.reason(reason);
    }

    pub(super) fn foreign_key(&self) {
        add(&mut self.0.borrow_mut().foreign_keys, 1);
    }

    pub(super) fn hidden(&self, times: u64) {
        add(&mut self.0.borrow_mut().hidden, times);
    }

    pub(super) fn status(&self, status: u16) {
        add(self.0.borrow_mut().statuses.entry(status).or_default(), 1);
    }

    pub(super) fn up(&self, bytes: usize) {
        add(
            &mut self.0.borrow_mut().bytes_up,
            u64::try_from(bytes).unwrap_or(u64::MAX),
        );
    }

    pub(super) fn down(&self, bytes: usize) {
        add(
            &mut self.0.borrow_mut().bytes_down,
            u64::try_from(bytes).unwrap_or(u64::MAX),
        );
    }

    pub(super) fn tokens(&self, tokens: Tokens) {
        let mut report = self.0.borrow_mut();
        add(&mut report.input_tokens, tokens.input);
        add(&mut report.output_tokens, tokens.output);
        add(&mut report.cached_tokens, tokens.cached);
    }

    fn reason(&self, reason: String) {
        let reason: String = reason.chars().take(LONGEST_REASON).collect();
        let mut report = self.0.borrow_mut();
        if report.reasons.len() < REASONS || report.reasons.contains_key(&reason) {
            add(report.reasons.entry(reason).or_default(), 1);
        }
    }
}

fn add(total: &mut u64, more: u64) {
    *total = total.saturating_add(more);
}
