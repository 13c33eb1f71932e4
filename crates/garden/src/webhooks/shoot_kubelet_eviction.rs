//! When kubelets evict pods, and what they keep for themselves and the system.
//!
//! As in the original, paths have another spelling of `imageFS` and `nodeFS`, the inodes of images are checked twice, and
//! those of nodes never.

use api::garden::shoot::kubelet::{
    KubeletConfig, KubeletConfigEviction, KubeletConfigEvictionMinimumReclaim,
    KubeletConfigEvictionSoftGracePeriod, KubeletConfigReserved,
};
use api::garden::{Duration, Quantity as Written};
use formats::quantity::Quantity;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::{bounds, resource_quantity, shoot_pool_counts};

const SIGNALS: [&str; 5] =
    ["memoryAvailable", "imagefsAvailable", "imagefsInodesFree", "nodefsAvailable", "imagefsInodesFree"];
const RESERVED: [&str; 4] = ["cpu", "memory", "ephemeralStorage", "pid"];

/// Thresholds, reclaims, grace periods and reservations: GDN-SEV-001 to -004.
pub(super) fn validate(kubelet: &KubeletConfig, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for (name, eviction) in
        [("evictionHard", &kubelet.eviction_hard), ("evictionSoft", &kubelet.eviction_soft)]
    {
        let values = eviction.iter().flat_map(thresholds).zip(SIGNALS);
        errors.extend(values.filter_map(|(value, signal)| threshold(value?, &at.child(name).child(signal))));
    }
    let at_reclaim = at.child("evictionMinimumReclaim");
    let reclaims = kubelet.eviction_minimum_reclaim.iter().flat_map(reclaims).zip(SIGNALS);
    errors.extend(reclaims.filter_map(|(value, signal)| quantity(value?, &at_reclaim.child(signal))));
    let at_period = at.child("evictionSoftGracePeriod");
    let periods = kubelet.eviction_soft_grace_period.iter().flat_map(periods).zip(SIGNALS);
    errors.extend(periods.filter_map(|(value, signal)| bounds::positive(&at_period.child(signal), value)));
    for (name, reserved) in
        [("kubeReserved", &kubelet.kube_reserved), ("systemReserved", &kubelet.system_reserved)]
    {
        let values = reserved.iter().flat_map(reservations).zip(RESERVED);
        errors.extend(values.filter_map(|(value, of)| quantity(value?, &at.child(name).child(of))));
    }
    errors
}

fn thresholds(of: &KubeletConfigEviction) -> [Option<&String>; 5] {
    let inodes = &of.image_fs_inodes_free;
    [&of.memory_available, &of.image_fs_available, inodes, &of.node_fs_available, inodes].map(Option::as_ref)
}

fn reclaims(of: &KubeletConfigEvictionMinimumReclaim) -> [Option<&Written>; 5] {
    let inodes = &of.image_fs_inodes_free;
    [&of.memory_available, &of.image_fs_available, inodes, &of.node_fs_available, inodes].map(Option::as_ref)
}

fn periods(of: &KubeletConfigEvictionSoftGracePeriod) -> [Option<&Duration>; 5] {
    let inodes = &of.image_fs_inodes_free;
    [&of.memory_available, &of.image_fs_available, inodes, &of.node_fs_available, inodes].map(Option::as_ref)
}

fn reservations(of: &KubeletConfigReserved) -> [Option<&Written>; 4] {
    [&of.cpu, &of.memory, &of.ephemeral_storage, &of.pid].map(Option::as_ref)
}

/// A quantity that is not negative, or a percentage of at most 100.
fn threshold(value: &str, at: &Path) -> Option<Error> {
    if Quantity::parse(value).is_ok_and(|quantity| resource_quantity::not_negative(&quantity, at).is_none()) {
        return None;
    }
    let Some(digits) = shoot_pool_counts::digits(value) else {
        let detail = "field must be either a valid resource quantity (e.g 200Mi) or a percentage (e.g '5%')";
        return Some(Error::invalid(at, value, detail));
    };
    let is_larger = digits.parse().unwrap_or(i64::MAX) > 100;
    is_larger.then(|| Error::invalid(at, value, "must not be greater than 100% and not smaller than 0%"))
}

/// The API server checks the notation of quantities of custom resources.
fn quantity(value: &Written, at: &Path) -> Option<Error> {
    resource_quantity::not_negative(&Quantity::parse(&value.0).ok()?, at)
}
