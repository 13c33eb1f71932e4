//! When a shoot is maintained and when it sleeps.

object! {
    /// When a shoot is maintained, and what that may change.
    Maintenance {
        /// What may be updated.
        auto_update: Option<MaintenanceAutoUpdate>,
        /// When.
        time_window: Option<MaintenanceTimeWindow>,
        /// True keeps changes of the spec until then.
        confine_spec_update_rollout: Option<bool>,
    }

    /// What maintenance may update.
    MaintenanceAutoUpdate {
        /// The patch version of Kubernetes.
        kubernetes_version: bool,
        /// Images of machines; absent counts as not said.
        machine_image_version: Option<bool>,
    }

    /// A time of each day: `220000+0100`, hours, minutes, seconds and offset.
    MaintenanceTimeWindow {
        /// When it begins.
        begin: String,
        /// When it ends; not later than the beginning is on the next day.
        end: String,
    }

    /// Whether and when a shoot sleeps.
    Hibernation {
        /// Whether it is to sleep now.
        enabled: Option<bool>,
        /// When it falls asleep and wakes.
        schedules: Vec<HibernationSchedule>,
    }

    /// When a shoot falls asleep and wakes, as cron expressions.
    HibernationSchedule {
        /// When it falls asleep.
        start: Option<String>,
        /// When it wakes.
        end: Option<String>,
        /// The zone of both: `Europe/Berlin`; absent for UTC.
        location: Option<String>,
    }
}
