//! Runs: finds the project, chooses and trusts policies, launches the sandbox, writes the report.

pub mod agent;
pub mod catalog;
pub mod clauses;
pub mod consent;
pub mod context;
pub mod definitions;
pub mod doctor;
pub mod egress;
pub mod folder;
pub mod host;
pub mod keyring;
pub mod library;
mod mount_view;
mod plan_rows;
pub mod plan_view;
pub mod project;
pub mod random;
pub mod report;
pub mod run;
pub mod select;
pub mod settings;
#[cfg(test)]
mod testing;
pub mod text;
pub mod trust;
