//! Targets of one line that are started for the run: a program, or an image, with what it is given.

use std::path::{Path, PathBuf};

use conformance::target::command::{CommandTarget, Image};
use conformance::target::url::Known;
use contract::document::target::{TargetConfig, TargetSpec};

use super::{own_paths, read_configuration};
use crate::arguments::RunningArguments;
use crate::environment;
use crate::terminal::Failure;

/// A program with arguments: `<config>` is a file made for each configuration, over the one of `--config` where it is given.
pub(super) fn command(line: &str, running: &RunningArguments) -> Result<CommandTarget, Failure> {
    let command = words(line);
    let program = command.first().ok_or_else(|| Failure::usage("command= names no program"))?;
    let name = file_name(program);
    let spec = TargetSpec { command, config: config(line, running)?, ..TargetSpec::default() };
    Ok(of(name, spec, None))
}

/// An image with what its entrypoint is given, in the same way.
pub(super) fn image(line: &str, running: &RunningArguments) -> Result<CommandTarget, Failure> {
    let mut args = words(line);
    if args.is_empty() {
        return Err(Failure::usage(
            "image= names no image: say image=REGISTRY/NAME:TAG, and after it what its entrypoint is given",
        ));
    }
    let named = args.remove(0);
    let config = config(line, running)?;
    let image = from(&named)?;
    let spec = TargetSpec { image: Some(named.clone()), args, config, ..TargetSpec::default() };
    Ok(of(without_tag(&named).to_owned(), spec, Some(image)))
}

/// An image of the engine that the Docker client asks.
pub(super) fn from(image: &str) -> Result<Image, Failure> {
    let docker = environment::around_kind().docker();
    let docker = docker.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(Image::of(image.to_owned(), docker))
}

/// What is started gets its certificate from us.
pub(super) fn trusts_nobody(running: &RunningArguments) -> Result<(), Failure> {
    if running.trust.is_said() {
        let text = "--ca and --insecure are for targets that run already: one that is started gets its certificate \
                    from <certDir>";
        return Err(Failure::usage(text));
    }
    Ok(())
}

fn of(name: String, spec: TargetSpec, image: Option<Image>) -> CommandTarget {
    let known = Known { name, paths: own_paths(), ..Known::default() };
    CommandTarget { known, spec, folder: PathBuf::from("."), image, decisions: None }
}

/// How its configuration file is made, if it is told of one.
fn config(line: &str, running: &RunningArguments) -> Result<Option<TargetConfig>, Failure> {
    trusts_nobody(running)?;
    let has_config = line.contains("<config>");
    let file = running.config.as_deref().map(|file| file.display().to_string());
    if file.is_some() && !has_config {
        return Err(Failure::usage(
            "--config needs <config> in the command line: where the program is told of it",
        ));
    }
    let in_config = match &running.config {
        Some(file) => read_configuration(file)?.contains("<port>"),
        None => false,
    };
    if !line.contains("<port>") && !in_config {
        let remedy = "write <port> into the command line, or into the file of --config, or say a target file";
        return Err(Failure::usage(format!("nobody tells the program on which port it is asked: {remedy}")));
    }
    Ok(has_config.then(|| TargetConfig { file, ..TargetConfig::default() }))
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn file_name(program: &str) -> String {
    Path::new(program)
        .file_name()
        .map_or_else(|| program.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The last part of an image's name: `registry:5000/team/webhook:v1@sha256:…` is `webhook`.
fn without_tag(image: &str) -> &str {
    let untold = image.split_once('@').map_or(image, |(name, _)| name);
    let last = untold.rsplit_once('/').map_or(untold, |(_, last)| last);
    last.split_once(':').map_or(last, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_called_as_its_image_without_registry_tag_and_digest() {
        for (image, name) in [
            ("webhook", "webhook"),
            ("webhook:v1", "webhook"),
            ("registry.example:5000/team/webhook", "webhook"),
            ("registry.example:5000/team/webhook:v1@sha256:00", "webhook"),
        ] {
            assert_eq!(without_tag(image), name);
        }
    }
}
