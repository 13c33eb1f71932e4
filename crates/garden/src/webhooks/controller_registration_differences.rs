//! What changed of a ControllerRegistration that is being deleted.

use api::garden::controller_registration::{
    ControllerRegistrationDeployment, ControllerRegistrationSpec, ControllerResource,
    ControllerResourceLifecycle,
};
use api::garden::reference::LabelSelector;
use formats::duration::GoDuration;
use webhook::field::{Error, Path};

use super::go_value::GoValue;
use super::{differences, references};

/// The error that lists what changed, if anything did: GDN-CRG-006.
#[must_use]
pub fn forbidden(new: &ControllerRegistrationSpec, old: &ControllerRegistrationSpec) -> Option<Error> {
    let (new, old) = (specification(new), specification(old));
    (new != old).then(|| differences::forbidden(&Path::new("spec"), &new, &old))
}

fn specification(spec: &ControllerRegistrationSpec) -> GoValue {
    const TYPE: &str = "core.ControllerRegistrationDeployment";
    let resources = spec.resources.iter().map(resource).collect();
    let fields = vec![
        ("Resources", GoValue::List("core.ControllerResource", resources)),
        ("Deployment", GoValue::pointer(TYPE, spec.deployment.as_ref().map(|of| deployment(TYPE, of)))),
    ];
    GoValue::Struct("core.ControllerRegistrationSpec", fields)
}

fn resource(resource: &ControllerResource) -> GoValue {
    const LIFECYCLE: &str = "core.ControllerResourceLifecycle";
    let flag = |flag: Option<bool>| GoValue::pointer("bool", flag.map(GoValue::Bool));
    let timeout = resource.reconcile_timeout.as_ref();
    let timeout = timeout.map(|timeout| GoDuration::parse(&timeout.0).unwrap_or_default().nanos());
    let lifecycle = resource.lifecycle.as_ref().map(|of| lifecycle(LIFECYCLE, of));
    let fields = vec![
        ("Kind", GoValue::text(&resource.kind)),
        ("Type", GoValue::text(&resource.type_)),
        ("GloballyEnabled", flag(resource.globally_enabled)),
        ("ReconcileTimeout", GoValue::duration(timeout)),
        ("Primary", flag(resource.primary)),
        ("Lifecycle", GoValue::pointer(LIFECYCLE, lifecycle)),
        ("WorkerlessSupported", flag(resource.workerless_supported)),
    ];
    GoValue::Struct("core.ControllerResource", fields)
}

fn lifecycle(name: &'static str, lifecycle: &ControllerResourceLifecycle) -> GoValue {
    let strategy = |strategy: &Option<String>| {
        GoValue::pointer("core.ControllerResourceLifecycleStrategy", strategy.as_ref().map(GoValue::text))
    };
    let fields = vec![
        ("Reconcile", strategy(&lifecycle.reconcile)),
        ("Delete", strategy(&lifecycle.delete)),
        ("Migrate", strategy(&lifecycle.migrate)),
    ];
    GoValue::Struct(name, fields)
}

fn deployment(name: &'static str, deployment: &ControllerRegistrationDeployment) -> GoValue {
    const SELECTOR: &str = "v1.LabelSelector";
    let selector = |selector: &LabelSelector| {
        let fields = vec![
            ("MatchLabels", GoValue::Map(selector.match_labels.clone())),
            ("MatchExpressions", references::requirements(&selector.match_expressions)),
        ];
        GoValue::Struct(SELECTOR, fields)
    };
    let references = deployment.deployment_refs.iter();
    let references = references.map(|reference| {
        GoValue::Struct("core.DeploymentRef", vec![("Name", GoValue::text(&reference.name))])
    });
    let policy = deployment.policy.as_ref().map(GoValue::text);
    let fields = vec![
        ("Policy", GoValue::pointer("core.ControllerDeploymentPolicy", policy)),
        ("SeedSelector", GoValue::pointer(SELECTOR, deployment.seed_selector.as_ref().map(selector))),
        ("DeploymentRefs", GoValue::List("core.DeploymentRef", references.collect())),
    ];
    GoValue::Struct(name, fields)
}
