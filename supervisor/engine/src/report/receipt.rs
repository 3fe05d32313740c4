//! The receipt: what was tried in the finished sandbox before the command started.

use glee_sandbox::receipt::{LeftOut, Receipt, Tried, Wish};
use glee_sandbox::sys::process;
use serde::Serialize;

use super::LayerReport;

/// The proof that comes with a report.
#[derive(Debug, Serialize)]
pub struct ReceiptReport {
    /// `passed`; `failed` if a canary was a surprise, and nothing ran; `off` at the caller's wish; `none` if it did not come to that.
    pub verdict: &'static str,
    pub canaries: Vec<CanaryRow>,
    /// What is forbidden and was not tried.
    pub not_tried: Vec<NotTried>,
    /// How many canaries the system call filter handed to the supervisor.
    pub notified: u32,
    pub policy_sha256: String,
    /// The locks that were in place, by name.
    pub layers: Vec<&'static str>,
    pub landlock_abi: u32,
    /// The kernel's own name for itself.
    pub kernel: String,
    pub duration_us: u64,
}

#[derive(Debug, Serialize)]
pub struct CanaryRow {
    pub name: &'static str,
    pub tried: String,
    pub expected: String,
    pub got: String,
    pub ok: bool,
}

#[derive(Debug, Serialize)]
pub struct NotTried {
    pub name: &'static str,
    pub reason: String,
}

impl Default for ReceiptReport {
    fn default() -> Self {
        Self {
            verdict: "none",
            canaries: Vec::new(),
            not_tried: Vec::new(),
            notified: 0,
            policy_sha256: String::new(),
            layers: Vec::new(),
            landlock_abi: 0,
            kernel: String::new(),
            duration_us: 0,
        }
    }
}

impl ReceiptReport {
    /// Fills in what the canaries found.
    pub(super) fn take(&mut self, receipt: &Receipt, wish: Wish) {
        self.verdict = match (wish, receipt.surprises().next()) {
            (_, Some(_)) => "failed",
            (Wish::Take, None) => "passed",
            (Wish::Off, None) => "off",
        };
        self.canaries = receipt.tried.iter().map(row).collect();
        let left_out = receipt.left_out.iter();
        let not_tried = |left: &LeftOut| NotTried {
            name: left.name,
            reason: left.reason.clone().into_owned(),
        };
        self.not_tried = left_out.map(not_tried).collect();
        self.notified = receipt.notified;
        self.duration_us = u64::try_from(receipt.duration.as_micros()).unwrap_or(u64::MAX);
    }

    /// What it is a receipt for: the policy, the locks, the kernel.
    pub(super) fn sign(&mut self, sha256: &str, layers: &LayerReport) {
        sha256.clone_into(&mut self.policy_sha256);
        self.landlock_abi = layers.landlock_abi;
        self.kernel = process::kernel_release();
        self.layers.clone_from(&layers.namespaces);
        self.layers.extend(&layers.cgroup);
        let locks = [
            (layers.no_new_privs, "no_new_privs"),
            (layers.landlock_abi > 0, "landlock"),
            (layers.seccomp, "seccomp"),
        ];
        self.layers
            .extend(locks.iter().filter(|(there, _)| *there).map(|(_, name)| name));
    }
}

fn row(tried: &Tried) -> CanaryRow {
    CanaryRow {
        name: tried.canary.name(),
        tried: tried.canary.tried(),
        expected: tried.canary.expected.words(),
        got: tried.got(),
        ok: tried.holds(),
    }
}
