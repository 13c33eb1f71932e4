//! Maintenance of a Shoot: time window and auto-update.

use api::garden::shoot::ShootSpec;
use serde_json::{Value, json};
use versions::admission;
use versions::window::Window;
use webhook::field::Path;
use webhook::object::{self, WrongType};

use super::field_errors::{FieldErrors, field_error};
use super::shoot_provider::workerless;

/// A Shoot without a window gets one of an hour, at a full hour that `below` chooses; auto-update is on by default.
///
/// GDN-SMT-001, GDN-SMT-002, GDN-SMT-003, GDN-SMT-005.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(shoot: &mut Value, below: impl FnOnce(u64) -> u64) -> Result<(), WrongType> {
    const MAINTENANCE: [&str; 2] = ["spec", "maintenance"];
    let has_pools = !object::list(shoot, &["spec", "provider", "workers"])?.is_empty();
    let at = |field: &'static str| [MAINTENANCE[0], MAINTENANCE[1], field];
    if object::map(shoot, &at("autoUpdate"))?.is_none() {
        object::set(shoot, &at("autoUpdate"), json!({"kubernetesVersion": true}))?;
    }
    let image = [MAINTENANCE[0], MAINTENANCE[1], "autoUpdate", "machineImageVersion"];
    if has_pools && object::boolean(shoot, &image)?.is_none() {
        object::set(shoot, &image, true)?;
    }
    if object::map(shoot, &at("timeWindow"))?.is_none() {
        let window = Window::random(below);
        let window = json!({"begin": window.begin.formatted(), "end": window.end.formatted()});
        object::set(shoot, &at("timeWindow"), window)?;
    }
    Ok(())
}

/// A Shoot without pools has no images to update: GDN-SMT-004. `versions` validates the window.
pub(super) fn validate(shoot: &ShootSpec, at: &Path) -> FieldErrors {
    let Some(maintenance) = &shoot.maintenance else { return FieldErrors::new() };
    let at = at.child("maintenance");
    let update = maintenance.auto_update.as_ref().filter(|_| shoot.provider.workers.is_empty());
    let updates_images = update.is_some_and(|update| update.machine_image_version.is_some());
    let mut errors: FieldErrors =
        workerless(&at.child("autoUpdate"), [("machineImageVersion", updates_images)]).collect();
    let window = maintenance.time_window.as_ref();
    errors.extend(window.and_then(|window| admission::window(window, &at.to_string())).map(field_error));
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_window_is_an_hour_from_any_full_hour_but_the_last() {
        for hour in [0, 9, 22] {
            let mut shoot = json!({"spec": {}});
            default(&mut shoot, |end| {
                assert_eq!(end, 23);
                hour
            })
            .unwrap();
            let (begin, end) = (format!("{hour:02}0000+0000"), format!("{:02}0000+0000", hour + 1));
            let want = json!({"autoUpdate": {"kubernetesVersion": true}, "timeWindow": {"begin": begin, "end": end}});
            assert_eq!(shoot["spec"]["maintenance"], want);
        }
    }
}
