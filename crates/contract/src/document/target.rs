//! Target files: the implementation under test, how it is started and how it is reached.

use std::collections::BTreeMap;

use schema::KubernetesVersion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Error, SourceFile};
use crate::versions::Range;

/// The instances that contracts may name.
const INSTANCES: [&str; 2] = ["seed", "shoot"];

/// A target file, `kind: Target`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TargetFile {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Target`.
    pub kind: String,
    /// Name of the target.
    pub metadata: Metadata,
    /// The target.
    pub spec: TargetSpec,
}

/// A name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Lower case letters, digits and `-`.
    pub name: String,
}

/// The implementation under test; placeholders are `<port>`, `<healthPort>`, `<metricsPort>`, `<certDir>`, `<config>`,
/// `<sourceKubeconfig>`, `<targetKubeconfig>`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct TargetSpec {
    /// Version that `versions` and `differs` of clauses refer to.
    pub version: Option<String>,
    /// Program and arguments, started once per effective configuration; absent: the target runs already. With
    /// `image`, replaces the image's entrypoint.
    pub command: Vec<String>,
    /// Image of a container that is started once per effective configuration, by the Docker engine.
    pub image: Option<String>,
    /// Arguments of the entrypoint of `image`.
    pub args: Vec<String>,
    /// Environment variables of the program, added to the inherited ones; for a container, to the image's.
    pub env: BTreeMap<String, String>,
    /// URL that AdmissionReviews are sent to.
    pub url: Option<String>,
    /// Address that answers 200 when the target is ready.
    pub ready: Option<String>,
    /// Address of its metrics.
    pub metrics: Option<String>,
    /// Webhook name → path; default: the paths of the project's own component.
    pub paths: BTreeMap<String, String>,
    /// Files with its webhook configurations; without them, clauses about the registration are notSupported.
    pub registration: Option<RegistrationFiles>,
    /// How its configuration file is built.
    pub config: Option<TargetConfig>,
    /// Program and arguments that print the configuration of `<config>` with all defaults, as YAML or JSON, and fail
    /// if the configuration is invalid; without it, clauses about defaults are notSupported.
    pub effective: Vec<String>,
    /// The suite that `verify` runs if the command line names no suite, contract, clause or case, such as `controlplane`.
    pub suite: Option<String>,
    /// Webhooks and controllers that it has, as contracts name them: `controlplane`. Contracts about others are left out.
    /// Default: the webhooks of `registration`.
    pub serves: Vec<String>,
    /// Features that clauses may need.
    pub features: Vec<String>,
    /// The provider extension that its webhooks belong to, such as `aws`; cases then use its namespaces, with the objects
    /// of its profile. Default: the provider whose namespaces `registration` selects, else the provider of the cases.
    pub provider: Option<String>,
    /// The release of Gardener that its webhooks are for, such as `v1.98.0`: cases use objects as this release writes
    /// them, and clauses for other releases are skipped. Default: v1.82.0.
    pub gardener: Option<String>,
    /// The version of Kubernetes that its embedded API servers serve, such as `1.28.4` or `1.28`. Default: the newest
    /// that the release in `gardener` supports; without it, 1.36.
    #[schemars(with = "Option<String>", extend("type" = ["string", "number", "null"]))]
    pub kubernetes: Option<KubernetesVersion>,
    /// Values that clauses name with `$name`.
    pub parameters: BTreeMap<String, Value>,
    /// Intended changes that no clause explains.
    pub extras: Vec<String>,
    /// Resources that it reads in all namespaces, such as `v1 configmaps`: cases with such facts run alone.
    pub reads_everywhere: Vec<String>,
    /// Files with objects that must exist in its cluster before it starts: CustomResourceDefinitions of kinds that it
    /// watches, namespaces that it writes to; relative to the target file.
    pub needs: Vec<String>,
    /// Files with objects that the namespace of each case about a control plane has, such as its Cluster or the Secret
    /// `cloudprovider`: each replaces the object of its kind and name that the profile of `provider` has, or is added;
    /// relative to the target file. A provider without a profile needs the field, even if the list is empty.
    pub cluster_objects: Option<Vec<String>>,
    /// Kubeconfig of a garden whose own API server serves Gardener's kinds; the garden is then the target; relative to
    /// the target file.
    pub kubeconfig: Option<String>,
    /// PEM file of the CA that signed its certificate, for a target that runs already.
    pub ca: Option<String>,
    /// Source file of the webhook, on which code scanning shows findings (SARIF); relative to the target file. Default: the
    /// target file.
    pub source: Option<String>,
}

/// Files with webhook configurations; relative to the target file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RegistrationFiles {
    /// One file for every instance.
    All(String),
    /// A file for each instance, such as `seed` and `shoot`; an instance that is not named has none.
    Each(BTreeMap<String, String>),
}

/// How a configuration file is built: `file`, the case's configuration, then `set`, then `clusters`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TargetConfig {
    /// File that everything is merged over; relative to the target file.
    pub file: Option<String>,
    /// Dotted path → value, placeholders filled in.
    pub set: Map<String, Value>,
    /// The same, only for scenarios with a source and a target cluster.
    pub clusters: Map<String, Value>,
}

impl TargetSpec {
    /// Whether the tool starts it.
    #[must_use]
    pub fn is_started(&self) -> bool {
        !self.command.is_empty() || self.image.is_some()
    }
}

/// Reads a target file.
///
/// # Errors
/// When it is not YAML, has another kind or unknown fields, or the target cannot be reached.
pub fn read(file: &SourceFile) -> Result<TargetFile, Error> {
    let target: TargetFile = file.read("Target")?;
    match check_reachable(&target.spec)
        .or_else(|| check_image(&target.spec))
        .or_else(|| check_names(&target.spec))
    {
        None => Ok(target),
        Some((message, remedy)) => Err(file.error(super::first(), 0, message, Some(remedy))),
    }
}

/// Message and remedy.
type MessageAndRemedy = (String, String);

/// Checks that there is exactly one way to reach the target.
fn check_reachable(spec: &TargetSpec) -> Option<MessageAndRemedy> {
    let is_webhook = spec.is_started() || spec.url.is_some();
    if is_webhook && spec.kubeconfig.is_some() {
        let remedy = "remove `command`, `image` and `url`: requests go to the garden's own API server";
        return Some(error("the target has a kubeconfig beside a command, an image or a url", remedy));
    }
    if !is_webhook && spec.kubeconfig.is_none() {
        let message = "the target needs one of command, image, url and kubeconfig";
        let remedy = "write `url: https://HOST:PORT`, with `command` or `image` if the tool shall start it, or `kubeconfig` of a garden";
        return Some(error(message, remedy));
    }
    let url = spec.url.as_ref().filter(|url| !url.starts_with("https://"))?;
    let remedy = "webhooks are served over HTTPS: `https://HOST:PORT`";
    Some(error(&format!("the url {url} is not https"), remedy))
}

/// Checks the image and its arguments.
fn check_image(spec: &TargetSpec) -> Option<MessageAndRemedy> {
    let Some(image) = &spec.image else {
        let remedy = "name the `image`, or move the arguments to `command`";
        return (!spec.args.is_empty()).then(|| error("the target has args but no image", remedy));
    };
    let is_one_word = !image.is_empty() && !image.contains(char::is_whitespace);
    let remedy = "write one name, such as `image: registry.example/webhook:v1`, and move arguments to `args`";
    (!is_one_word).then(|| error("image is not the name of an image", remedy))
}

/// Checks the releases and the registration.
fn check_names(spec: &TargetSpec) -> Option<MessageAndRemedy> {
    if let Some(release) =
        spec.gardener.as_ref().filter(|release| Range::parse(&format!("={release}")).is_none())
    {
        let remedy = "write a release of Gardener: `gardener: v1.82.0`";
        return Some(error(&format!("gardener {release} is not a release"), remedy));
    }
    if spec.kubernetes.is_some() && !spec.is_started() {
        let remedy = "remove `kubernetes`: the target runs already, with its own cluster";
        return Some(error("the target has kubernetes, but no API server is started for it", remedy));
    }
    let Some(RegistrationFiles::Each(files)) = &spec.registration else { return None };
    let strange = files.keys().find(|name| !INSTANCES.contains(&name.as_str()))?;
    let remedy = format!("known are {}", INSTANCES.join(" and "));
    Some(error(&format!("registration names the unknown instance {strange}"), &remedy))
}

fn error(message: &str, remedy: &str) -> MessageAndRemedy {
    (message.to_owned(), remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\n";

    #[test]
    fn a_target_is_read_with_its_placeholders() {
        let text =
            format!("{HEAD}spec: {{command: [./x, --config=<config>], url: \"https://127.0.0.1:<port>\"}}\n");
        let target = read(&SourceFile::new("target.yaml", text)).unwrap();
        assert_eq!(target.spec.command, ["./x", "--config=<config>"]);
        assert_eq!(target.spec.url.as_deref(), Some("https://127.0.0.1:<port>"));
    }

    #[test]
    fn a_registration_is_one_file_or_one_for_each_instance() {
        let each = [("seed", "a.yaml"), ("shoot", "b.yaml")];
        let each = each.map(|(instance, file)| (instance.to_owned(), file.to_owned()));
        let table = [
            ("webhooks.yaml", RegistrationFiles::All("webhooks.yaml".to_owned())),
            ("{seed: a.yaml, shoot: b.yaml}", RegistrationFiles::Each(BTreeMap::from(each))),
        ];
        for (written, read_as) in table {
            let text = format!("{HEAD}spec: {{url: \"https://a\", registration: {written}}}\n");
            let target = read(&SourceFile::new("target.yaml", text)).unwrap();
            assert_eq!(target.spec.registration, Some(read_as), "{written}");
        }
    }

    #[test]
    fn a_version_of_kubernetes_needs_no_quotes() {
        for (written, read_as) in
            [("1.28", "1.28"), ("1.30", "1.30"), ("v1.28.4", "1.28.4"), ("\"1.30.1\"", "1.30.1")]
        {
            let text = format!("{HEAD}spec: {{command: [a], kubernetes: {written}}}\n");
            let target = read(&SourceFile::new("target.yaml", text)).unwrap();
            assert_eq!(target.spec.kubernetes, Some(read_as.parse().unwrap()), "{written}");
        }
    }

    #[test]
    fn errors_have_a_line() {
        let table = [
            ("spec: {url: \"https://a\", comand: [x]}\n", 4, "comand"),
            ("spec: {}\n", 1, "needs one of command, image, url and kubeconfig"),
            ("spec: {url: \"https://a\", args: [x]}\n", 1, "args but no image"),
            ("spec: {image: \"a b\"}\n", 1, "not the name of an image"),
            ("spec: {image: a, kubeconfig: k}\n", 1, "a kubeconfig beside a command"),
            ("spec: {url: \"https://a\", kubeconfig: k}\n", 1, "a kubeconfig beside a command"),
            ("spec: {url: \"http://a\"}\n", 1, "is not https"),
            ("spec: {url: \"https://a\", gardener: new}\n", 1, "gardener new is not a release"),
            ("spec: {url: \"https://a\", kubernetes: 1.28}\n", 1, "no API server is started for it"),
            ("spec:\n  url: https://a\n  kubernetes: 1.23\n", 6, "known are 1.24, 1.25"),
            ("spec:\n  url: https://a\n  kubernetes: new\n", 6, "\"new\" is not a version of Kubernetes"),
            ("spec: {url: \"https://a\", registration: {sed: x}}\n", 1, "unknown instance sed"),
        ];
        for (rest, line, words) in table {
            let error = read(&SourceFile::new("target.yaml", format!("{HEAD}{rest}"))).unwrap_err();
            assert_eq!((error.location.line, error.message.contains(words)), (line, true), "{rest}: {error}");
        }
    }
}
