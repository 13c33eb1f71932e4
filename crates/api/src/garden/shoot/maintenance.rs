//! Maintenance and hibernation of a shoot.

object! {
    /// Maintenance of a shoot.
    Maintenance {
        /// Enabled updates.
        auto_update: Option<MaintenanceAutoUpdate>,
        /// The window.
        time_window: Option<MaintenanceTimeWindow>,
        /// True postpones changes of the spec to the maintenance window.
        confine_spec_update_rollout: Option<bool>,
    }

    /// Updates that maintenance may do.
    MaintenanceAutoUpdate {
        /// The patch version of Kubernetes.
        kubernetes_version: bool,
        /// Images of machines.
        machine_image_version: Option<bool>,
    }

    /// A window of each day: `220000+0100`, hours, minutes, seconds and offset.
    MaintenanceTimeWindow {
        /// When it begins.
        begin: String,
        /// When it ends; an end before the beginning is on the next day.
        end: String,
    }

    /// Hibernation of a shoot.
    Hibernation {
        /// Whether it hibernates now.
        enabled: Option<bool>,
        /// Schedules of hibernation.
        schedules: Vec<HibernationSchedule>,
    }

    /// A schedule of hibernation, as cron expressions.
    HibernationSchedule {
        /// When hibernation starts.
        start: Option<String>,
        /// When hibernation ends.
        end: Option<String>,
        /// The time zone of both: `Europe/Berlin`; absent for UTC.
        location: Option<String>,
    }
}
