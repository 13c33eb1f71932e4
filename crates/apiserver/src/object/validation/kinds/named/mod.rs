//! Checks that a table names: those that look at more than one field.

mod access;
mod addresses;
mod batch;
mod data;
mod metrics;
mod network;
mod nodes;
mod pod_changes;
mod pods;
mod requests;
mod scaling;
mod services;
mod volumes;
mod workloads;

use webhook::field::Error;

use super::check::Found;

/// What is wrong with what is found at a place.
pub(super) type Named = fn(&Found<'_>) -> Vec<Error>;

/// The check of a name.
pub(super) fn find(name: &str) -> Option<Named> {
    let all = [
        access::CHECKS,
        addresses::CHECKS,
        batch::CHECKS,
        data::CHECKS,
        network::CHECKS,
        nodes::CHECKS,
        pod_changes::CHECKS,
        pods::CHECKS,
        requests::CHECKS,
        scaling::CHECKS,
        services::CHECKS,
        volumes::CHECKS,
        workloads::CHECKS,
    ];
    all.into_iter().flatten().find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// The error, if something is so.
fn when(wrong: bool, error: impl FnOnce() -> Error) -> Vec<Error> {
    if wrong { vec![error()] } else { Vec::new() }
}
