//! Priority classes of what the operator deploys into the runtime cluster. The most important one, of the operator itself, comes with it.

use serde_json::{Value, json};

use super::managed::ManagedObjects;
use super::rendering::Rendering;

/// The ManagedResource.
pub const MANAGED: &str = "garden-system";

/// How important the classes are among each other; their names contain it. OPC-037.
const PRIORITIES: [u32; 5] = [500, 400, 300, 200, 100];
/// What is above all priorities of others, so that components of a Garden are not evicted in their favour.
const BASE: u32 = 999_999_000;

/// The priority classes. OPC-037.
#[must_use]
pub fn render() -> Rendering {
    let classes = PRIORITIES.map(priority_class).to_vec();
    Rendering { managed: vec![ManagedObjects::in_runtime(MANAGED, classes)], ..Rendering::default() }
}

fn priority_class(priority: u32) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": format!("gardener-garden-system-{priority}")},
        "description": "PriorityClass for Garden system components",
        "globalDefault": false,
        "value": BASE + priority,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::fixture::{assert_objects, managed};

    #[test]
    fn there_are_five_priority_classes() {
        let class = |name: &str, value: u32| {
            json!({
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                "description": "PriorityClass for Garden system components", "globalDefault": false, "value": value,
            })
        };
        let want = [
            class("gardener-garden-system-500", 999_999_500),
            class("gardener-garden-system-400", 999_999_400),
            class("gardener-garden-system-300", 999_999_300),
            class("gardener-garden-system-200", 999_999_200),
            class("gardener-garden-system-100", 999_999_100),
        ];
        let rendering = render();
        assert_objects("classes", &managed(&rendering, "garden-system").objects, &want, &[]);
        assert!(rendering.steps.is_empty());
    }
}
