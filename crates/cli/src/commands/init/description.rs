//! The target file that is written: small, with what else may be said as comments, and the command that comes next.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use conformance::target::provider;

use super::ask::{Answer, Asked};
use super::registered::Registered;
use crate::arguments::InitProviderArguments;
use crate::terminal::Failure;

/// What a target file says.
#[derive(Debug, Default)]
pub(super) struct Description {
    name: String,
    file: PathBuf,
    /// Address of a webhook that runs already.
    url: Option<String>,
    /// Words of a command line.
    command: Vec<String>,
    /// Its configuration file.
    config: Option<String>,
    /// PEM file of the authority.
    ca: Option<String>,
    registration: Option<String>,
    /// Of which provider the webhook is.
    provider: Option<String>,
    gardener: Option<String>,
    asked: Vec<Asked>,
    /// Flags of `verify` that no target file has.
    flags: Vec<String>,
    /// What is to be done first.
    before: Option<String>,
    /// Files that go with it.
    pub(super) beside: Vec<(PathBuf, String)>,
}

/// Refuses what no target file can say.
pub(super) fn check(arguments: &InitProviderArguments) -> Result<(), Failure> {
    let provider = arguments.provider.as_deref().unwrap_or("x");
    if provider.is_empty()
        || !provider
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
    {
        let remedy = "write lower case letters, digits and -, such as aws";
        return Err(Failure::usage(format!("--provider {provider:?} is no name; {remedy}")));
    }
    if let Some(url) = &arguments.url {
        let host = url.strip_prefix("https://").map(|rest| rest.trim_end_matches('/'));
        if host.is_none_or(|host| host.is_empty() || host.contains('/')) {
            let remedy = "write https://HOST:PORT without a path; paths are found out";
            return Err(Failure::usage(format!("--url {url} is no address of a webhook; {remedy}")));
        }
        if url.contains('@') {
            return Err(Failure::usage(
                "--url holds a user: what is written has no secrets; webhooks ask for none",
            ));
        }
    }
    Ok(())
}

impl Description {
    fn of(arguments: &InitProviderArguments, asked: Vec<Asked>) -> Self {
        let name = arguments.provider.as_ref().map(|provider| format!("provider-{provider}"));
        Self {
            name: name.unwrap_or_else(|| "provider".to_owned()),
            provider: arguments.provider.clone(),
            file: arguments.file.clone(),
            gardener: arguments.gardener.clone(),
            asked,
            ..Self::default()
        }
    }

    /// Takes the provider of the registration where none is said, and refuses one that it does not select.
    fn check_provider(&mut self, registered: Option<&Registered>) -> Result<(), Failure> {
        let selected = registered.map(|registered| registered.selected.clone()).unwrap_or_default();
        let found = provider::of(self.provider.as_deref(), &selected);
        self.provider = found.map_err(|unclear| Failure::usage(format!("--provider: {unclear}")))?;
        Ok(())
    }

    /// Of a webhook that runs already, or is started, with its registration.
    pub(super) fn outside(
        arguments: &InitProviderArguments,
        (url, registered): (Option<String>, Option<&Registered>),
        asked: Vec<Asked>,
    ) -> Result<Self, Failure> {
        let mut description = Self::of(arguments, asked);
        let authority = registered.and_then(|registered| registered.authority.clone());
        description.check_provider(registered)?;
        let place = |path: &Path| seen_from(&arguments.file, path);
        description.registration =
            arguments.mutating_webhook_configuration.as_deref().map(place).transpose()?;
        if let Some(line) = &arguments.command {
            description.command = line.split_whitespace().map(str::to_owned).collect();
            description.config = arguments.config.as_deref().map(place).transpose()?;
            return Ok(description);
        }
        description.url = url;
        description.ca = arguments.trust.ca.as_deref().map(place).transpose()?;
        if arguments.trust.insecure {
            description.flags.push("--insecure".to_owned());
        } else if let (None, Some(authority)) = (&description.ca, authority) {
            description.ca = Some(description.beside_it("ca.crt", authority));
        }
        if let Some(config) = &arguments.config {
            description.flags.push(format!("--config {}", config.display()));
        }
        Ok(description)
    }

    /// Of a webhook in a seed.
    pub(super) fn in_seed(
        arguments: &InitProviderArguments,
        registered: &Registered,
        asked: Vec<Asked>,
    ) -> Result<Self, Failure> {
        let mut description = Self::of(arguments, asked);
        let (service, port) = &registered.service;
        let namespace = arguments.namespace.as_deref().unwrap_or_default();
        let kubeconfig = arguments.kubeconfig.as_deref().unwrap_or(Path::new("")).display();
        if arguments.provider.is_none() {
            description.name = of_namespace(namespace);
        }
        if let Some(content) = &registered.content {
            description.registration = Some(description.beside_it("registration.yaml", content.clone()));
        }
        description.check_provider(Some(registered))?;
        description.url = Some("https://127.0.0.1:9443".to_owned());
        // The certificate is for the Service's name, not for the address of a forwarded port.
        description.flags.push("--insecure".to_owned());
        description.before = Some(format!(
            "kubectl --kubeconfig {kubeconfig} -n {namespace} port-forward service/{service} 9443:{port}"
        ));
        Ok(description)
    }

    /// A file that goes with the target file, as that one names it.
    fn beside_it(&mut self, ending: &str, content: String) -> String {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{stem}-{ending}");
        self.beside.push((self.file.with_file_name(&name), content));
        name
    }

    /// The target file.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to memory does not fail");
        line("# Written by `gardener-conformance init provider`. docs/targets.md has every field.");
        line("apiVersion: conformance.gardener.cloud/v1alpha1");
        line("kind: Target");
        line(&format!("metadata: {{name: {}}}", self.name));
        line("spec:");
        if let Some(gardener) = &self.gardener {
            line(&format!("  gardener: {}", scalar(gardener)));
        } else {
            line(
                "  # The release of Gardener that the webhook is for; clauses of some releases alone need it.",
            );
            line("  # gardener: v1.98.0");
        }
        if self.command.is_empty() {
            line("  # It runs already, and is asked here.");
            line(&format!("  url: {}", scalar(self.url.as_deref().unwrap_or_default())));
        } else {
            line("  # Started for each run; ports, certificates and an API server to read are filled in.");
            line("  command:");
            self.command.iter().for_each(|word| line(&format!("  - {}", scalar(word))));
            line("  url: https://127.0.0.1:<port>");
        }
        if let Some(config) = &self.config {
            line(&format!("  config: {{file: {}}}", scalar(config)));
        }
        if let Some(ca) = &self.ca {
            line(&format!("  ca: {}", scalar(ca)));
        }
        self.paths(&mut line);
        if let Some(file) = &self.registration {
            line(&format!("  registration: {}", scalar(file)));
        } else {
            line("  # How it is registered; without it, clauses about namespaces and labels are not asked.");
            line("  # registration: webhooks.yaml");
        }
        if let Some(provider) = &self.provider {
            line("  # Whose shoots, seeds and backups it is asked about.");
            line(&format!("  provider: {}", scalar(provider)));
        }
        line("  # csi: volumes come from CSI plugins, and the cloud is controlled from outside.");
        line("  # features: [csi]");
        text
    }

    fn paths(&self, line: &mut impl FnMut(&str)) {
        let moved: Vec<String> = self
            .asked
            .iter()
            .filter(|asked| asked.answer != Answer::NotServed && asked.path != format!("/{}", asked.name))
            .map(|asked| format!("{}: {}", asked.name, scalar(&asked.path)))
            .collect();
        let served: Vec<String> = self.asked.iter().filter_map(Asked::served).collect();
        line(&format!("  # Serves {}.", served.join(", ")));
        if !moved.is_empty() {
            line(&format!("  paths: {{{}}}", moved.join(", ")));
        }
    }

    /// What comes next, a line each.
    pub(super) fn next(&self) -> Vec<String> {
        let file = self.file.display().to_string();
        let words = ["gardener-conformance verify --target", &file].into_iter();
        let words = words.chain(self.flags.iter().map(String::as_str)).chain(["--suite controlplane"]);
        let verify = words.collect::<Vec<_>>().join(" ");
        match &self.before {
            Some(before) => vec![format!("next     {before} &"), format!("         {verify}")],
            None => vec![format!("next     {verify}")],
        }
    }
}

/// A path as the target file names it: as it was said where both lie in one folder, else from the root.
fn seen_from(file: &Path, path: &Path) -> Result<String, Failure> {
    let here = file.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder == Path::new("."));
    if here || path.is_absolute() {
        return Ok(path.display().to_string());
    }
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("failed to find {}: {error}", path.display())))?;
    Ok(absolute.display().to_string())
}

/// `provider-aws` of `extension-provider-aws-x7k2p`.
fn of_namespace(namespace: &str) -> String {
    let name = namespace.strip_prefix("extension-").unwrap_or(namespace);
    match name.rsplit_once('-') {
        // What Gardener appends is five letters and digits, and never a word of the name.
        Some((name, ending)) if ending.len() == 5 && namespace != name && name.contains('-') => {
            name.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// A text as YAML reads it back; what needs no quotes has none.
fn scalar(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=<>:".contains(letter);
    let is_plain = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || "/.".contains(letter))
        && text.chars().all(plain)
        && !text.contains(": ")
        && !text.ends_with(':')
        && formats::yaml::reads_as_string(text);
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_named_by_the_namespace_of_its_extension() {
        let table = [
            ("extension-provider-aws-x7k2p", "provider-aws"),
            ("extension-provider-local", "provider-local"),
            ("garden", "garden"),
        ];
        for (namespace, name) in table {
            assert_eq!(of_namespace(namespace), name, "{namespace}");
        }
    }

    #[test]
    fn texts_are_read_back_as_they_were() {
        for text in [
            "./webhook",
            "--port=<port>",
            "a b",
            "yes",
            "https://127.0.0.1:1",
            "x: y",
            "{a}",
            "#",
            "é\"",
            "1",
        ] {
            let read: serde_json::Value = formats::yaml::from_str(&format!("a: {}", scalar(text))).unwrap();
            assert_eq!(read["a"], text);
        }
    }
}
