//! Kinds that the embedded API servers of a run serve as an aggregated API server does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schema::TypedKind;
use serde_json::Value;
use substrate::embedded::TypedApi;
use webhook::admission_plugin::AdmissionPlugins;
use webhook::strategy::Strategy;

/// The admission plugins that the configuration of cases turns on; `None` if it does not speak of plugins. An error is why it
/// turns on none.
pub type PluginsOf = fn(&Value) -> Result<Option<Arc<dyn AdmissionPlugins>>, String>;

/// An API whose kinds have their rules in the API server instead of in the webhooks of a component.
#[derive(Debug)]
pub struct Aggregated {
    /// Its name in reports: `garden`.
    pub name: String,
    /// Its description in reports: `embedded API server with …`.
    pub description: String,
    /// The component whose webhooks have these rules where the kinds are custom resources: its cases about a request are
    /// sent to the server, which answers them without any webhook.
    pub component: String,
    /// The kinds.
    pub(crate) api: TypedApi,
    plugins: PluginsOf,
    /// The kinds with plugins, by the configuration that turns them on.
    admitting: Mutex<BTreeMap<String, Arc<TypedApi>>>,
}

impl Aggregated {
    /// An API of these kinds, with their rules.
    #[must_use]
    pub fn new(
        name: &str,
        description: &str,
        component: &str,
        kinds: Vec<(TypedKind, &'static Strategy)>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            component: component.to_owned(),
            api: TypedApi::new(kinds),
            plugins: |_| Ok(None),
            admitting: Mutex::default(),
        }
    }

    /// The same API, whose servers have the admission plugins that the configuration of cases turns on.
    #[must_use]
    pub fn with_plugins(self, plugins: PluginsOf) -> Self {
        Self { plugins, ..self }
    }

    /// Whether cases of a configuration are about admission plugins.
    pub(crate) fn is_about_plugins(&self, config: &Value) -> bool {
        !matches!((self.plugins)(config), Ok(None))
    }

    /// The kinds with the plugins of a configuration; `None` if it does not speak of plugins.
    ///
    /// # Errors
    /// If the configuration turns on no plugins.
    pub(crate) fn admitting(&self, config: &Value) -> Result<Option<Arc<TypedApi>>, String> {
        let Some(plugins) = (self.plugins)(config)? else { return Ok(None) };
        // A panic while it was locked left nothing half done.
        let mut admitting = self.admitting.lock().unwrap_or_else(PoisonError::into_inner);
        let api =
            admitting.entry(config.to_string()).or_insert_with(|| Arc::new(self.api.admitting(plugins)));
        Ok(Some(Arc::clone(api)))
    }
}
