//! Decodes an OperatingSystemConfig for the hooks: kubelet.service, the kubelet's configuration, files and units.
//!
//! Unchanged content keeps its bytes: a unit or file is only written if its content has changed.

use formats::version::Version;
use formats::{unit, yaml};
use serde_json::{Value, json};
use webhook::object;
use webhook::rejection::Rejection;

use super::{Ensured, Ensurer, failed};
use crate::cluster::Cluster;
use crate::file_content::Encoding;
use crate::pod::ensure_named;

/// Unit of the kubelet.
pub const KUBELET_UNIT: &str = "kubelet.service";
/// File of the kubelet's configuration.
pub const KUBELET_CONFIGURATION: &str = "/var/lib/kubelet/config/kubelet";
/// File with kernel settings.
pub const KERNEL_SETTINGS: &str = "/etc/sysctl.d/99-k8s-general.conf";
/// File with the kubelet's cloud provider configuration.
pub const CLOUD_PROVIDER_CONFIG: &str = "/var/lib/kubelet/cloudprovider.conf";

const POOL: &str = "worker.gardener.cloud/pool";
const UNITS: [&str; 2] = ["spec", "units"];
const FILES: [&str; 2] = ["spec", "files"];
/// `0644`.
const READABLE: u16 = 0o644;

/// Calls the provider's hooks for a node's units and files.
///
/// # Errors
/// 422 without a Cluster, and where a unit, a file or a hook fails.
pub fn mutate(ensurer: &dyn Ensurer, cluster: Option<&Cluster>, config: &mut Value) -> Ensured {
    let cluster = cluster.ok_or_else(|| failed("the cluster of the operating system config is not known"))?;
    let kubelet = cluster.of_pool(object::label(config, POOL)?.unwrap_or_default()).clone();
    unit(ensurer, &kubelet, config)?;
    file(config, KUBELET_CONFIGURATION, |content| configuration(ensurer, &kubelet, content))?;
    file(config, KERNEL_SETTINGS, |content| {
        let mut settings = content.to_owned();
        ensurer.kubernetes_general_configuration(&mut settings)?;
        Ok(settings)
    })?;
    if let Some(content) = ensurer.kubelet_cloud_provider_config().filter(|content| !content.is_empty()) {
        let data = Encoding::Base64.encode(content).map_err(failed)?;
        let file = json!({
            "path": CLOUD_PROVIDER_CONFIG, "permissions": READABLE,
            "content": {"inline": {"encoding": "b64", "data": data}},
        });
        ensure_named(object::list_mut(config, &FILES)?, "path", &[file]);
    }
    additional(config, &FILES, |files| ensurer.additional_files(files))?;
    additional(config, &UNITS, |units| ensurer.additional_units(units))
}

/// CP-093, CP-094.
fn unit(ensurer: &dyn Ensurer, kubelet: &Version, config: &mut Value) -> Ensured {
    let Some(unit) = element(config, &UNITS, "name", KUBELET_UNIT)? else { return Ok(()) };
    let content = object::text(unit, &["content"])?;
    if content.is_empty() {
        return Ok(());
    }
    let before = unit::options(content)
        .map_err(|error| failed(format!("could not deserialize {KUBELET_UNIT}: {error}")))?;
    let mut after = before.clone();
    ensurer.kubelet_service_unit(kubelet, &mut after)?;
    if after != before {
        object::set(unit, &["content"], unit::write(&after))?;
    }
    Ok(())
}

/// CP-096.
fn configuration(ensurer: &dyn Ensurer, kubelet: &Version, content: &str) -> Result<String, Rejection> {
    let wrong = |words: String| failed(format!("could not decode the kubelet configuration: {words}"));
    let document = yaml::first_document(content.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(before) = document else { return Err(wrong("it is no map".to_owned())) };
    let head = |field: &str| before.get(field).and_then(Value::as_str).unwrap_or_default();
    let is = (head("apiVersion"), head("kind"));
    if is != ("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration") {
        return Err(wrong(format!("it is {:?} of {:?}", is.1, is.0)));
    }
    let mut after = before.clone();
    ensurer.kubelet_configuration(kubelet, &mut after)?;
    if after == before {
        return Ok(content.to_owned());
    }
    yaml::to_string(&after)
        .map_err(|error| failed(format!("could not encode the kubelet configuration: {error}")))
}

/// Changes the inline content of a file, if it has one; if the result is empty, nothing is written to a file without
/// content.
fn file(config: &mut Value, path: &str, change: impl FnOnce(&str) -> Result<String, Rejection>) -> Ensured {
    let Some(file) = element(config, &FILES, "path", path)? else { return Ok(()) };
    let inline = ["content", "inline"];
    if object::get(file, &inline)?.is_none() {
        return Ok(());
    }
    let [content, inline] = inline;
    let wrong = |error| failed(format!("could not decode {path}: {error}"));
    let encoding = Encoding::of(object::text(file, &[content, inline, "encoding"])?).map_err(wrong)?;
    let before = encoding.decode(object::text(file, &[content, inline, "data"])?).map_err(wrong)?;
    let after = change(&before)?;
    if after != before && !after.is_empty() {
        object::set(file, &[content, inline, "data"], encoding.encode(&after).map_err(failed)?)?;
    }
    Ok(())
}

/// Lets a hook change a list; a missing list is only created if the hook adds something.
fn additional(config: &mut Value, path: &[&str], hook: impl FnOnce(&mut Vec<Value>) -> Ensured) -> Ensured {
    let mut items = object::list(config, path)?.to_vec();
    hook(&mut items)?;
    if items != object::list(config, path)? {
        object::set(config, path, Value::Array(items))?;
    }
    Ok(())
}

/// The element of a list by its key.
fn element<'a>(
    config: &'a mut Value,
    path: &[&str],
    key: &str,
    wanted: &str,
) -> Result<Option<&'a mut Value>, Rejection> {
    if object::list(config, path)?.is_empty() {
        return Ok(None);
    }
    let items = object::list_mut(config, path)?;
    Ok(items.iter_mut().find(|item| item.get(key).and_then(Value::as_str) == Some(wanted)))
}
