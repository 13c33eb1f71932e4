//! The list of components, which the end-to-end tests include as well.

use component::Component;

/// Every component of this project.
pub(crate) static COMPONENTS: &[&Component] = &[
    &gardener_resource_manager::COMPONENT,
    &gardener_controller_manager::COMPONENT,
    &gardener_controlplane::COMPONENT,
    &gardener_garden::COMPONENT,
    &gardener_admission_controller::COMPONENT,
    &gardener_scheduler::COMPONENT,
    &gardener_operator::COMPONENT,
];
