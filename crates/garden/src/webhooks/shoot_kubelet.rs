//! Settings of kubelets, of the Shoot's or of one pool.

use api::garden::shoot::kubelet::KubeletConfig;
use webhook::field::{Error, Path, Shown};

use super::field_errors::FieldErrors;
use super::kubernetes_version::is_below;
use super::{bounds, shoot_feature_gates, shoot_kubelet_eviction};

const NO_DOCKER: &str = "can only be configured with containerd runtime. This setting has no effect for docker container runtime.";
const SECOND: i64 = 1_000_000_000;

/// The errors of a kubelet's settings; `version` is the kubelet's, `has_docker` whether it may run with docker.
///
/// GDN-SKL-001 to -006.
pub(super) fn validate(kubelet: &KubeletConfig, version: &str, has_docker: bool, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    errors.extend(bounds::non_negative(&at.child("maxPods"), kubelet.max_pods));
    if let Some(limit) = kubelet.pod_pids_limit.filter(|limit| *limit < 100) {
        let detail = "podPIDsLimit value must be at least 100";
        errors.push(Error::invalid(&at.child("podPIDsLimit"), limit, detail));
    }
    let deadline = kubelet.image_pull_progress_deadline.as_ref();
    let at_deadline = at.child("imagePullProgressDeadline");
    if deadline.is_some() && !has_docker {
        let detail = "can only be configured when a worker pool is configured with 'docker'. This setting has no effect \
                      for other container runtimes.";
        errors.push(Error::forbidden(&at_deadline, detail));
    }
    errors.extend(bounds::positive(&at_deadline, deadline));
    let period = kubelet.eviction_pressure_transition_period.as_ref();
    errors.extend(bounds::positive(&at.child("evictionPressureTransitionPeriod"), period));
    let period = kubelet.eviction_max_pod_grace_period;
    errors.extend(bounds::non_negative(&at.child("evictionMaxPodGracePeriod"), period));
    errors.extend(shoot_kubelet_eviction::validate(kubelet, at));
    errors.extend(collection(kubelet, at));
    errors.extend(shoot_feature_gates::validate(&kubelet.feature_gates, version, &at.child("featureGates")));
    errors.extend(bounds::non_negative(&at.child("registryPullQPS"), kubelet.registry_pull_qps));
    errors.extend(bounds::non_negative(&at.child("registryBurst"), kubelet.registry_burst));
    errors.extend(seccomp(kubelet, version, &at.child("seccompDefault")));
    errors.extend(logs(kubelet, has_docker, at));
    let timeout = kubelet.streaming_connection_idle_timeout.as_ref();
    errors.extend(bounds::refuse(
        &at.child("streamingConnectionIdleTimeout"),
        timeout,
        |timeout| !(30 * SECOND..=4 * 3600 * SECOND).contains(&timeout.nanos()),
        "value must be between 30s and 4h",
    ));
    errors.extend(swap(kubelet, &at.child("memorySwap")));
    errors
}

/// The percentages of disk usage between which images are deleted.
fn collection(kubelet: &KubeletConfig, at: &Path) -> FieldErrors {
    let (high, low) = (kubelet.image_gc_high_threshold_percent, kubelet.image_gc_low_threshold_percent);
    let (at_high, at_low) = (at.child("imageGCHighThresholdPercent"), at.child("imageGCLowThresholdPercent"));
    let mut errors = FieldErrors::new();
    for (at, percent) in [(&at_high, high), (&at_low, low)] {
        if let Some(percent) = percent.filter(|percent| !(0..=100).contains(percent)) {
            errors.push(Error::invalid(at, i64::from(percent), "value must be in [0,100]"));
        }
    }
    if high.zip(low).is_some_and(|(high, low)| low >= high) {
        let detail = "imageGCLowThresholdPercent must be less than imageGCHighThresholdPercent";
        errors.push(Error::forbidden(&at_low, detail));
    }
    errors
}

fn seccomp(kubelet: &KubeletConfig, version: &str, at: &Path) -> FieldErrors {
    let Some(is_on) = kubelet.seccomp_default else { return FieldErrors::new() };
    let mut errors = FieldErrors::new();
    if is_below(version, 25) {
        let detail = "seccomp defaulting is not available for kubernetes versions < 1.25";
        errors.push(Error::forbidden(at, detail));
    }
    if is_on && kubelet.feature_gates.get("SeccompDefault") == Some(&false) {
        let detail =
            "seccomp defaulting is not available when kubelet's 'SeccompDefault' feature gate is disabled";
        errors.push(Error::forbidden(at, detail));
    }
    errors
}

fn logs(kubelet: &KubeletConfig, has_docker: bool, at: &Path) -> FieldErrors {
    let (at_size, at_files) = (at.child("containerLogMaxSize"), at.child("containerLogMaxFiles"));
    let mut errors = FieldErrors::new();
    if has_docker && kubelet.container_log_max_size.is_some() {
        errors.push(Error::forbidden(&at_size, NO_DOCKER));
    }
    if let Some(files) = kubelet.container_log_max_files {
        if has_docker {
            errors.push(Error::forbidden(&at_files, NO_DOCKER));
        }
        if files < 2 {
            errors.push(Error::invalid(&at_files, Shown::verbatim(files), "value must be >= 2."));
        }
    }
    errors
}

fn swap(kubelet: &KubeletConfig, at: &Path) -> FieldErrors {
    let Some(swap) = &kubelet.memory_swap else { return FieldErrors::new() };
    let mut refused = Vec::new();
    if kubelet.fail_swap_on == Some(true) {
        refused.push("the kubelet is configured with 'FailSwapOn=true'");
    }
    let gate = kubelet.feature_gates.get("NodeSwap");
    if gate.is_none_or(|is_on| !is_on && swap.swap_behavior.is_some()) {
        refused.push("kubelet's 'NodeSwap' feature gate is not set");
    }
    let detail = |why: &str| format!("configuring swap behaviour is not available when {why}");
    refused.into_iter().map(|why| Error::forbidden(at, &detail(why))).collect()
}
