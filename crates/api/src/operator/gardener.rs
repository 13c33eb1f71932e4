//! Gardener's control plane in a Garden.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kube_apiserver::AuditWebhook;
use crate::garden::Quantity;
use crate::garden::reference::{LabelSelector, Subject};
use crate::garden::shoot::api_server::{
    AdmissionPlugin, ApiServerLogging, ApiServerRequests, AuditConfig, WatchCacheSizes,
};

object! {
    /// Gardener's control plane.
    GardenerConfig {
        /// Identity of the garden; immutable.
        cluster_identity: String,
        /// gardener-apiserver.
        #[serde(rename = "gardenerAPIServer")]
        api_server: Option<GardenerApiServerConfig>,
        /// gardener-admission-controller.
        #[serde(rename = "gardenerAdmissionController")]
        admission_controller: Option<GardenerAdmissionControllerConfig>,
        /// gardener-controller-manager.
        #[serde(rename = "gardenerControllerManager")]
        controller_manager: Option<GardenerControllerManagerConfig>,
        /// gardener-scheduler.
        #[serde(rename = "gardenerScheduler")]
        scheduler: Option<GardenerSchedulerConfig>,
    }

    /// gardener-apiserver.
    GardenerApiServerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// Admission plugins beside the defaults.
        admission_plugins: Vec<AdmissionPlugin>,
        /// The audit configuration.
        audit_config: Option<AuditConfig>,
        /// Where audit events are sent.
        audit_webhook: Option<AuditWebhook>,
        /// Log verbosity.
        logging: Option<ApiServerLogging>,
        /// Limits of concurrent requests.
        requests: Option<ApiServerRequests>,
        /// Sizes of watch caches.
        watch_cache_sizes: Option<WatchCacheSizes>,
    }

    /// gardener-admission-controller.
    GardenerAdmissionControllerConfig {
        /// `info` (default), `debug` or `error`.
        log_level: Option<String>,
        /// Largest sizes of objects.
        resource_admission_configuration: Option<ResourceAdmissionConfiguration>,
    }

    /// Largest sizes of objects.
    ResourceAdmissionConfiguration {
        /// The sizes.
        limits: Vec<ResourceLimit>,
        /// Users, groups and ServiceAccounts without limits.
        unrestricted_subjects: Vec<Subject>,
        /// `block` (default) or `log`.
        operation_mode: Option<String>,
    }

    /// The largest size of objects of some resources.
    ResourceLimit {
        /// Their groups.
        api_groups: Vec<String>,
        /// Their versions.
        api_versions: Vec<String>,
        /// Their plural names.
        resources: Vec<String>,
        /// The size.
        size: Quantity,
    }

    /// gardener-controller-manager.
    GardenerControllerManagerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// Quotas of namespaces of Projects.
        default_project_quotas: Vec<ProjectQuota>,
        /// `info` (default), `debug` or `error`.
        log_level: Option<String>,
    }

    /// A quota of the namespaces of some Projects.
    ProjectQuota {
        /// The ResourceQuota.
        config: Option<Value>,
        /// Selects Projects; absent for all.
        project_selector: Option<LabelSelector>,
    }

    /// gardener-scheduler.
    GardenerSchedulerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// `info` (default), `debug` or `error`.
        log_level: Option<String>,
    }
}
