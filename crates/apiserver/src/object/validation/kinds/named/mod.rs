//! Checks with code, which usually need more than one field.

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

use super::check::NamedCheck;

/// The check with a name.
pub(super) fn find(name: &str) -> Option<NamedCheck> {
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
    all.into_iter().flatten().find(|(other, _)| *other == name).map(|(_, check)| *check)
}
