//! The admission plugins of an API server, and their configurations.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::AdmissionPlugin;
use formats::{json as go_json, yaml};
use secrets::SecretData;
use serde_json::{Value, json};

use super::{PodParts, mount};
use crate::components::error::RenderError;
use crate::components::objects::{config_map_volume, secret_volume};
use crate::components::rendering::name_of;
use crate::components::unique;
use crate::components::values::ReferencedObjects;

const CONFIG_KEY: &str = "admission-configuration.yaml";
const CONFIG_PATH: &str = "/etc/kubernetes/admission";
const CONFIG_VOLUME: &str = "admission-config";
const KUBECONFIGS_PATH: &str = "/etc/kubernetes/admission-kubeconfigs";
const KUBECONFIGS_VOLUME: &str = "admission-kubeconfigs";

/// The plugins of an API server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginSettings<'a> {
    enabled: Vec<EnabledPlugin<'a>>,
    disabled: Vec<&'a str>,
}

/// A plugin that is enabled.
#[derive(Clone, Debug, PartialEq)]
struct EnabledPlugin<'a> {
    name: &'a str,
    config: Option<&'a Value>,
    kubeconfig: Option<&'a [u8]>,
}

impl<'a> PluginSettings<'a> {
    /// A plugin that the Garden configures replaces the default of its name in place, or is appended; a disabled one is not enabled.
    /// OPC-093.
    ///
    /// # Errors
    /// If a Secret that an enabled plugin refers to has no kubeconfig.
    pub fn new(
        defaults: &[&'a str],
        configured: &'a [AdmissionPlugin],
        referenced: &'a ReferencedObjects,
    ) -> Result<Self, RenderError> {
        let mut plugins: Vec<(&str, Option<&AdmissionPlugin>)> =
            defaults.iter().map(|name| (*name, None)).collect();
        for plugin in configured {
            match plugins.iter_mut().find(|(name, _)| *name == plugin.name) {
                Some((_, known)) => *known = Some(plugin),
                None => plugins.push((plugin.name.as_str(), Some(plugin))),
            }
        }
        let is_disabled = |plugin: &AdmissionPlugin| plugin.disabled == Some(true);
        let enabled = plugins.into_iter().filter(|(_, plugin)| !plugin.is_some_and(is_disabled));
        let enabled = enabled.map(|(name, plugin)| EnabledPlugin::new(name, plugin, referenced));
        let disabled = configured.iter().filter(|plugin| is_disabled(plugin));
        Ok(Self {
            enabled: enabled.collect::<Result<_, _>>()?,
            disabled: disabled.map(|plugin| plugin.name.as_str()).collect(),
        })
    }

    /// The ConfigMap with the configurations, and the file that names them.
    ///
    /// # Errors
    /// If a configuration is not what its plugin reads.
    pub fn config_map(&self, prefix: &str) -> Result<Value, RenderError> {
        let (mut data, mut listed) = (BTreeMap::new(), Vec::new());
        for plugin in &self.enabled {
            let Some(text) = plugin.file()? else { continue };
            let key = format!("{}.yaml", plugin.name.to_lowercase());
            let path = format!("{CONFIG_PATH}/{key}");
            listed.push(json!({"name": plugin.name, "path": path, "configuration": null}));
            data.insert(key, text);
        }
        let listed = if listed.is_empty() { Value::Null } else { Value::Array(listed) };
        let file = json!({
            "apiVersion": "apiserver.k8s.io/v1alpha1",
            "kind": "AdmissionConfiguration",
            "plugins": listed,
        });
        data.insert(CONFIG_KEY.to_owned(), yaml::to_string(&file).map_err(RenderError::yaml(CONFIG_KEY))?);
        Ok(unique::config_map(prefix, &BTreeMap::new(), &data))
    }

    /// The Secret with the kubeconfigs of plugins; it is there even without any. OPC-096.
    #[must_use]
    pub fn kubeconfigs(&self, prefix: &str) -> Value {
        let kubeconfigs = self.enabled.iter().filter_map(|plugin| {
            plugin.kubeconfig.map(|kubeconfig| (plugin.kubeconfig_key(), kubeconfig.to_vec()))
        });
        unique::secret(prefix, &BTreeMap::new(), &SecretData(kubeconfigs.collect()))
    }

    /// Arguments and volumes.
    #[must_use]
    pub fn parts(&self, config_map: &Value, kubeconfigs: &Value) -> PodParts {
        let enabled: Vec<&str> = self.enabled.iter().map(|plugin| plugin.name).collect();
        let flag = |flag: &str, names: &[&str]| {
            (!names.is_empty()).then(|| format!("--{flag}-admission-plugins={}", names.join(",")))
        };
        let file = format!("--admission-control-config-file={CONFIG_PATH}/{CONFIG_KEY}");
        let lists = [flag("enable", &enabled), flag("disable", &self.disabled)];
        PodParts {
            arguments: lists.into_iter().flatten().chain([file]).collect(),
            volumes: vec![
                (
                    config_map_volume(CONFIG_VOLUME, name_of(config_map)),
                    mount(CONFIG_VOLUME, CONFIG_PATH, false),
                ),
                (
                    secret_volume(KUBECONFIGS_VOLUME, name_of(kubeconfigs)),
                    mount(KUBECONFIGS_VOLUME, KUBECONFIGS_PATH, false),
                ),
            ],
        }
    }
}

impl<'a> EnabledPlugin<'a> {
    fn new(
        name: &'a str,
        plugin: Option<&'a AdmissionPlugin>,
        referenced: &'a ReferencedObjects,
    ) -> Result<Self, RenderError> {
        let secret = plugin.and_then(|plugin| plugin.kubeconfig_secret_name.as_deref());
        let kubeconfig =
            secret.map(|secret| referenced.kubeconfig(secret, "admission plugin")).transpose()?;
        Ok(Self { name, config: plugin.and_then(|plugin| plugin.config.as_ref()), kubeconfig })
    }

    fn kubeconfig_key(&self) -> String {
        format!("{}-kubeconfig.yaml", self.name.to_lowercase())
    }

    /// The configuration as a file; `None` without one. Plugins that call others get the path of their kubeconfig from here alone, so
    /// that a Garden cannot name other files. OPC-095.
    fn file(&self) -> Result<Option<String>, RenderError> {
        let calls_others = matches!(
            self.name,
            "ValidatingAdmissionWebhook" | "MutatingAdmissionWebhook" | "ImagePolicyWebhook"
        );
        // The original has read and written this one.
        if let Some(config) = self.config.filter(|_| self.name == "PodSecurity") {
            return yaml::to_string(config).map(Some).map_err(RenderError::yaml(self.name));
        }
        if !calls_others {
            return Ok(self.config.map(|config| go_json::html_safe(&config.to_string())));
        }
        if self.config.is_none() && self.kubeconfig.is_none() {
            return Ok(None);
        }
        let path = match self.kubeconfig {
            Some(_) => format!("{KUBECONFIGS_PATH}/{}", self.kubeconfig_key()),
            None => String::new(),
        };
        let config =
            if self.name == "ImagePolicyWebhook" { self.image_policy(&path)? } else { self.webhook(&path)? };
        yaml::to_string(&config).map(Some).map_err(RenderError::yaml(self.name))
    }

    fn webhook(&self, path: &str) -> Result<Value, RenderError> {
        let Some(config) = self.config else {
            return Ok(webhook_config("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration", path));
        };
        let text = |field: &str| config[field].as_str().unwrap_or_default();
        match (text("apiVersion"), text("kind")) {
            (version @ "apiserver.config.k8s.io/v1", kind @ "WebhookAdmissionConfiguration")
            | (version @ "apiserver.config.k8s.io/v1alpha1", kind @ "WebhookAdmission") => {
                Ok(webhook_config(version, kind, path))
            }
            (version, kind) => {
                Err(self.malformed(format!("no kind {kind:?} is registered for version {version:?}")))
            }
        }
    }

    fn image_policy(&self, path: &str) -> Result<Value, RenderError> {
        let mut config = self.config.cloned().unwrap_or_else(|| json!({"imagePolicy": {}}));
        let policy = config.get_mut("imagePolicy").and_then(Value::as_object_mut);
        let Some(policy) = policy else {
            let reason = "expected \"imagePolicy\" key in configuration but it does not exist";
            return Err(self.malformed(reason.to_owned()));
        };
        policy.insert("kubeConfigFile".to_owned(), path.into());
        Ok(config)
    }

    fn malformed(&self, reason: String) -> RenderError {
        RenderError::PluginConfig { plugin: self.name.to_owned(), reason }
    }
}

fn webhook_config(api_version: &str, kind: &str, path: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "kubeConfigFile": path})
}
