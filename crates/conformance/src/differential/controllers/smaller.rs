//! Worlds without one of their parts, starting with the biggest parts.

use contract::expect;
use serde_json::Value;

use super::super::shrink::parts;

/// All worlds without one of their parts.
pub(super) fn smaller(world: &Value) -> Vec<Value> {
    let mut parts = parts(world);
    parts.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let without = |path: &expect::Path| {
        let mut world = world.clone();
        expect::put(&mut world, path, None);
        world
    };
    let mut found: Vec<Value> = parts.iter().map(|(_, path)| without(path)).collect();
    found.retain(|candidate| candidate != world);
    found
}
