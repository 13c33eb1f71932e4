//! The webhooks of the MutatingWebhookConfiguration.

use api::networking::{INJECT, INJECT_DISABLE};
use api::resources::{
    ENDPOINT_SLICE_HINTS_CONSIDER, HA_CONSIDER, HA_SKIP, PROJECTED_TOKEN_SKIP, PURPOSE,
    PURPOSE_TOKEN_INVALIDATOR, SECCOMP_SKIP, SYSTEM_COMPONENTS_SKIP, TOPOLOGY_SPREAD_SKIP,
};
use formats::selector::LabelSelector;
use webhook::registration::{FailurePolicy, MatchPolicy, Registration, ReinvocationPolicy, Rule};

use super::selectors::{Selectors, labelled, not_in, select, without};
use super::{Address, rule};
use crate::config::WebhooksConfiguration;
use crate::webhooks::{
    endpoint_slice_hints, high_availability_config, kubernetes_service_host, pod_scheduler_name,
    pod_topology_spread_constraints, projected_token_mount, seccomp_profile, system_components_config,
    token_invalidator,
};

const CREATE: &[&str] = &["CREATE"];
const CREATE_AND_UPDATE: &[&str] = &["CREATE", "UPDATE"];

/// The enabled webhooks, in gardenlet's order.
pub(super) fn webhooks(
    config: &WebhooksConfiguration,
    address: &Address<'_>,
    selectors: &Selectors<'_>,
) -> Vec<Registration> {
    let on = [
        (config.token_invalidator.enabled, token_invalidator as BuildRegistration),
        (config.projected_token_mount.enabled, projected_token_mount),
        (config.high_availability_config.enabled, high_availability_config),
        (config.pod_scheduler_name.enabled, pod_scheduler_name),
        (config.seccomp_profile.enabled, seccomp_profile),
        (config.kubernetes_service_host.enabled, kubernetes_service_host),
        (config.system_components_config.enabled, system_components_config),
        (config.endpoint_slice_hints.enabled, endpoint_slice_hints),
        (config.pod_topology_spread_constraints.enabled, pod_topology_spread_constraints),
    ];
    on.into_iter().filter(|(enabled, _)| *enabled).map(|(_, write)| write(address, selectors)).collect()
}

type BuildRegistration = fn(&Address<'_>, &Selectors<'_>) -> Registration;

/// GRM-TIV-005, GRM-TIV-006, GRM-TIV-007, GRM-TIV-011.
fn token_invalidator(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    let rules = vec![rule("", &["v1"], &["secrets"], CREATE_AND_UPDATE)];
    Registration {
        namespace_selector: Some(selectors.namespaces()),
        object_selector: Some(labelled(PURPOSE, PURPOSE_TOKEN_INVALIDATOR)),
        ..registration(address, token_invalidator::NAME, token_invalidator::PATH, rules)
    }
}

/// GRM-PTM-020, GRM-PTM-021, GRM-PTM-022, GRM-PTM-023, GRM-PTM-027.
fn projected_token_mount(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    Registration {
        namespace_selector: Some(selectors.namespaces()),
        object_selector: Some(select([without(PROJECTED_TOKEN_SKIP), selectors.others()])),
        ..registration(address, projected_token_mount::NAME, projected_token_mount::PATH, pods())
    }
}

/// GRM-HAC-070, GRM-HAC-071, GRM-HAC-072, GRM-HAC-073, GRM-HAC-074, GRM-HAC-080.
fn high_availability_config(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    let rules = vec![
        rule("apps", &["v1"], &["deployments", "statefulsets"], CREATE_AND_UPDATE),
        rule("autoscaling", &["v2beta1", "v2"], &["horizontalpodautoscalers"], CREATE_AND_UPDATE),
        rule("autoscaling.k8s.io", &["v1alpha1"], &["hvpas"], CREATE_AND_UPDATE),
    ];
    let namespaces =
        LabelSelector { match_labels: labelled(HA_CONSIDER, "true").match_labels, ..selectors.namespaces() };
    Registration {
        namespace_selector: Some(namespaces),
        object_selector: Some(selectors.managed([without(HA_SKIP)])),
        match_policy: Some(MatchPolicy::Equivalent),
        ..registration(address, high_availability_config::NAME, high_availability_config::PATH, rules)
    }
}

/// GRM-PSN-004, GRM-PSN-008.
fn pod_scheduler_name(address: &Address<'_>, _: &Selectors<'_>) -> Registration {
    Registration {
        namespace_selector: Some(LabelSelector::default()),
        object_selector: Some(LabelSelector::default()),
        failure_policy: Some(FailurePolicy::Ignore),
        ..registration(address, pod_scheduler_name::NAME, pod_scheduler_name::PATH, pods())
    }
}

/// GRM-SEC-006, GRM-SEC-007, GRM-SEC-008, GRM-SEC-009, GRM-SEC-014.
fn seccomp_profile(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    Registration {
        namespace_selector: Some(selectors.namespaces()),
        object_selector: Some(select([without(SECCOMP_SKIP), selectors.others()])),
        ..registration(address, seccomp_profile::NAME, seccomp_profile::PATH, pods())
    }
}

/// GRM-KSH-005, GRM-KSH-006, GRM-KSH-011.
fn kubernetes_service_host(address: &Address<'_>, _: &Selectors<'_>) -> Registration {
    let not_opted_out = Some(select([not_in(INJECT, &[INJECT_DISABLE])]));
    Registration {
        namespace_selector: not_opted_out.clone(),
        object_selector: not_opted_out,
        failure_policy: Some(FailurePolicy::Ignore),
        timeout_seconds: Some(2),
        reinvocation_policy: Some(ReinvocationPolicy::Never),
        ..registration(address, kubernetes_service_host::NAME, kubernetes_service_host::PATH, pods())
    }
}

/// GRM-SCC-020, GRM-SCC-021, GRM-SCC-025.
fn system_components_config(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    Registration {
        namespace_selector: Some(selectors.namespaces()),
        object_selector: Some(selectors.managed([without(SYSTEM_COMPONENTS_SKIP)])),
        ..registration(address, system_components_config::NAME, system_components_config::PATH, pods())
    }
}

/// GRM-ESH-005, GRM-ESH-006, GRM-ESH-010.
fn endpoint_slice_hints(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    let rules = vec![rule("discovery.k8s.io", &["v1"], &["endpointslices"], CREATE_AND_UPDATE)];
    Registration {
        namespace_selector: Some(selectors.namespaces()),
        object_selector: Some(labelled(ENDPOINT_SLICE_HINTS_CONSIDER, "true")),
        match_policy: Some(MatchPolicy::Equivalent),
        ..registration(address, endpoint_slice_hints::NAME, endpoint_slice_hints::PATH, rules)
    }
}

/// GRM-TSC-005, GRM-TSC-006, GRM-TSC-007, GRM-TSC-008, GRM-TSC-012.
fn pod_topology_spread_constraints(address: &Address<'_>, selectors: &Selectors<'_>) -> Registration {
    let (name, path) = (pod_topology_spread_constraints::NAME, pod_topology_spread_constraints::PATH);
    Registration {
        namespace_selector: Some(selectors.namespaces()),
        object_selector: Some(selectors.managed([selectors.others(), without(TOPOLOGY_SPREAD_SKIP)])),
        ..registration(address, name, path, pods())
    }
}

fn registration(address: &Address<'_>, name: &str, path: &str, rules: Vec<Rule>) -> Registration {
    address.registration(format!("{name}.resources.gardener.cloud"), path, rules)
}

/// The creation of Pods.
fn pods() -> Vec<Rule> {
    vec![rule("", &["v1"], &["pods"], CREATE)]
}
