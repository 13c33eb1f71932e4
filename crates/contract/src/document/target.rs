//! Target files: what is verified, how it is started and where it answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Error, SourceFile};
use crate::versions::Range;

/// The instances that contracts speak of.
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
    /// What it is.
    pub spec: TargetSpec,
}

/// A name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Lower case letters, digits and `-`.
    pub name: String,
}

/// What a target is; placeholders are `<port>`, `<healthPort>`, `<metricsPort>`, `<certDir>`, `<config>`,
/// `<sourceKubeconfig>`, `<targetKubeconfig>`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct TargetSpec {
    /// Version, as `versions` and `differs` of clauses mean it.
    pub version: Option<String>,
    /// Program and arguments, started once per effective configuration; absent: it runs already. With `image`, what takes the place
    /// of the image's entrypoint.
    pub command: Vec<String>,
    /// Image of a container that is started once per effective configuration, by the Docker engine.
    pub image: Option<String>,
    /// What the entrypoint of `image` is given.
    pub args: Vec<String>,
    /// Environment of the program, beside the inherited one; of a container, beside the image's.
    pub env: BTreeMap<String, String>,
    /// Where reviews are sent.
    pub url: Option<String>,
    /// Address that answers 200 when the target is ready.
    pub ready: Option<String>,
    /// Address of its metrics.
    pub metrics: Option<String>,
    /// Webhook name → path; default: the component's own.
    pub paths: BTreeMap<String, String>,
    /// Files with its webhook configurations; without them clauses about the registration are notSupported.
    pub registration: Option<RegistrationFiles>,
    /// How its configuration file is made.
    pub config: Option<TargetConfig>,
    /// Program and arguments that print the configuration of `<config>` with all defaults, as YAML or JSON, and fail
    /// where it is refused; without it, clauses about defaults are notSupported.
    pub effective: Vec<String>,
    /// Features that clauses may need.
    pub features: Vec<String>,
    /// The provider of extensions that its webhooks are of, such as `aws`: cases are about its namespaces then. Default: the one
    /// whose namespaces `registration` selects, else that of the cases.
    pub provider: Option<String>,
    /// The release of Gardener that its webhooks are for, such as `v1.98.0`: what it writes is what they are shown, and what holds
    /// for others is not asked. Default: v1.82.0.
    pub gardener: Option<String>,
    /// Values that clauses name with `$name`.
    pub parameters: BTreeMap<String, Value>,
    /// Changes that no clause speaks of and that are meant.
    pub extras: Vec<String>,
    /// Resources that it reads in all namespaces at once, such as `v1 configmaps`: cases with such facts run alone.
    pub reads_everywhere: Vec<String>,
    /// Files of objects that must be in its cluster before it starts: CustomResourceDefinitions of kinds that it watches,
    /// namespaces that it writes to; relative to the target file.
    pub needs: Vec<String>,
    /// Kubeconfig of a garden that has an API server of its own for Gardener's kinds: the garden is the target then; relative to
    /// the target file.
    pub kubeconfig: Option<String>,
    /// PEM file of the authority that signed its certificate, for a target that runs already.
    pub ca: Option<String>,
}

/// Where webhook configurations are read from; relative to the target file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RegistrationFiles {
    /// One file for every instance.
    All(String),
    /// A file for each instance, such as `seed` and `shoot`; an instance that is not named has none.
    Each(BTreeMap<String, String>),
}

/// How a configuration file is made: `file`, the case's configuration, then `set`, then `clusters`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TargetConfig {
    /// File that everything is merged over; relative to the target file.
    pub file: Option<String>,
    /// Dotted path → value, placeholders filled in.
    pub set: Map<String, Value>,
    /// The same, only where a scenario has a source and a target cluster.
    pub clusters: Map<String, Value>,
}

impl TargetSpec {
    /// Whether it is started for the run.
    #[must_use]
    pub fn is_started(&self) -> bool {
        !self.command.is_empty() || self.image.is_some()
    }
}

/// Reads a target file.
///
/// # Errors
/// When it is no YAML, of another kind, has unknown fields, or says nothing that could be asked.
pub fn read(file: &SourceFile) -> Result<TargetFile, Error> {
    let target: TargetFile = file.read("Target")?;
    match reach(&target.spec).or_else(|| started(&target.spec)).or_else(|| described(&target.spec)) {
        None => Ok(target),
        Some((message, remedy)) => Err(file.error(super::first(), 0, message, Some(remedy))),
    }
}

/// What is wrong, and how it is mended.
type Mistake = (String, String);

/// It is reached in one way.
fn reach(spec: &TargetSpec) -> Option<Mistake> {
    let is_webhook = spec.is_started() || spec.url.is_some();
    if is_webhook && spec.kubeconfig.is_some() {
        let remedy = "say `kubeconfig` alone: the garden's own API server is asked";
        return Some(mistake("the target is a garden and a webhook", remedy));
    }
    if !is_webhook && spec.kubeconfig.is_none() {
        let message = "the target has neither a command nor an image nor a url nor a kubeconfig";
        let remedy = "say `url: https://HOST:PORT`, and `command` or `image` if it is to be started, or `kubeconfig` of a garden";
        return Some(mistake(message, remedy));
    }
    let url = spec.url.as_ref().filter(|url| !url.starts_with("https://"))?;
    let remedy = "webhooks are served over HTTPS: `https://HOST:PORT`";
    Some(mistake(&format!("the url {url} is not https"), remedy))
}

/// What is started is a program or an image.
fn started(spec: &TargetSpec) -> Option<Mistake> {
    let Some(image) = &spec.image else {
        let remedy = "say which `image` they are for, or write them into `command`";
        return (!spec.args.is_empty()).then(|| mistake("the target has args and no image", remedy));
    };
    let is_one_word = !image.is_empty() && !image.contains(char::is_whitespace);
    let remedy =
        "say its name, such as `image: registry.example/webhook:v1`, and what it is given under `args`";
    (!is_one_word).then(|| mistake("the image has no name of one word", remedy))
}

/// What is told of it means something.
fn described(spec: &TargetSpec) -> Option<Mistake> {
    if let Some(release) =
        spec.gardener.as_ref().filter(|release| Range::parse(&format!("={release}")).is_none())
    {
        let remedy = "write the release that it is for: `gardener: v1.82.0`";
        return Some(mistake(&format!("gardener {release} is no release"), remedy));
    }
    let Some(RegistrationFiles::Each(files)) = &spec.registration else { return None };
    let strange = files.keys().find(|name| !INSTANCES.contains(&name.as_str()))?;
    let remedy = format!("instances are {}", INSTANCES.join(" and "));
    Some(mistake(&format!("there is no instance {strange} to register"), &remedy))
}

fn mistake(message: &str, remedy: &str) -> Mistake {
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
    fn mistakes_are_named_with_their_place() {
        let table = [
            ("spec: {url: \"https://a\", comand: [x]}\n", 4, "comand"),
            ("spec: {}\n", 1, "neither a command nor an image nor a url"),
            ("spec: {url: \"https://a\", args: [x]}\n", 1, "args and no image"),
            ("spec: {image: \"a b\"}\n", 1, "no name of one word"),
            ("spec: {image: a, kubeconfig: k}\n", 1, "a garden and a webhook"),
            ("spec: {url: \"https://a\", kubeconfig: k}\n", 1, "a garden and a webhook"),
            ("spec: {url: \"http://a\"}\n", 1, "is not https"),
            ("spec: {url: \"https://a\", gardener: new}\n", 1, "gardener new is no release"),
            ("spec: {url: \"https://a\", registration: {sed: x}}\n", 1, "no instance sed"),
        ];
        for (rest, line, words) in table {
            let error = read(&SourceFile::new("target.yaml", format!("{HEAD}{rest}"))).unwrap_err();
            assert_eq!((error.location.line, error.message.contains(words)), (line, true), "{rest}: {error}");
        }
    }
}
