//! Targets that the tool starts, given on the command line: a program or an image with its arguments.

use std::path::{Path, PathBuf};

use conformance::target::command::{CommandTarget, Image};
use conformance::target::url::TargetDescription;
use contract::document::target::{TargetConfig, TargetSpec};

use super::{NOTHING_FOR_EXTENSIONS, own_paths, read_configuration};
use crate::arguments::RunningTargetArguments;
use crate::environment;
use crate::terminal::Failure;

/// A program with arguments. The tool replaces `<config>` by a file that it makes for each configuration, from that of
/// `--config` if there is one.
pub(super) fn command(line: &str, running: &RunningTargetArguments) -> Result<CommandTarget, Failure> {
    let command = split_words(line);
    let program = command
        .first()
        .ok_or_else(|| Failure::usage("command= names no program: write command=\"PROGRAM ARGUMENTS…\""))?;
    let name = file_name(program);
    let spec = TargetSpec { command, config: config(line, running)?, ..TargetSpec::default() };
    Ok(command_target(name, spec, None))
}

/// An image with the arguments of its entrypoint, in the same way.
pub(super) fn image(line: &str, running: &RunningTargetArguments) -> Result<CommandTarget, Failure> {
    let mut args = split_words(line);
    if args.is_empty() {
        return Err(Failure::usage(
            "image= names no image: write image=\"REGISTRY/NAME:TAG ARGUMENTS…\", with the arguments of its entrypoint",
        ));
    }
    let reference = args.remove(0);
    let config = config(line, running)?;
    let image = docker_image(&reference)?;
    let spec = TargetSpec { image: Some(reference.clone()), args, config, ..TargetSpec::default() };
    Ok(command_target(short_image_name(&reference).to_owned(), spec, Some(image)))
}

/// An image of the Docker engine.
pub(super) fn docker_image(image: &str) -> Result<Image, Failure> {
    let docker = environment::kind_surroundings().docker();
    let docker = docker.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(Image::of(image.to_owned(), docker))
}

/// Refuses `--ca` and `--insecure` for a target that the tool starts.
pub(super) fn reject_trust_flags(running: &RunningTargetArguments) -> Result<(), Failure> {
    if running.trust.is_given() {
        let text = "--ca and --insecure are for a running target; a target that the tool starts gets its certificate \
        from <certDir>";
        return Err(Failure::usage(text));
    }
    Ok(())
}

fn command_target(name: String, spec: TargetSpec, image: Option<Image>) -> CommandTarget {
    let known = TargetDescription { name, paths: own_paths(), ..TargetDescription::default() };
    CommandTarget { known, spec, folder: PathBuf::from("."), image, decisions: None }
}

/// How to make the target's configuration file, if the command line contains `<config>`.
fn config(line: &str, running: &RunningTargetArguments) -> Result<Option<TargetConfig>, Failure> {
    reject_trust_flags(running)?;
    let has_config = line.contains("<config>");
    let file = running.config.as_deref().map(|file| file.display().to_string());
    if file.is_some() && !has_config {
        return Err(Failure::usage(
            "--config needs <config> in the command line of the target, where the tool inserts the file's path",
        ));
    }
    let in_config = match &running.config {
        Some(file) => read_configuration(file)?.contains("<port>"),
        None => false,
    };
    if !line.contains("<port>") && !in_config {
        let remedy = "write <port> in the command line or in the file of --config, or use a target file";
        return Err(Failure::usage(format!(
            "the target does not learn on which port to serve: {remedy}\n{NOTHING_FOR_EXTENSIONS}"
        )));
    }
    Ok(has_config.then(|| TargetConfig { file, ..TargetConfig::default() }))
}

fn split_words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn file_name(program: &str) -> String {
    Path::new(program)
        .file_name()
        .map_or_else(|| program.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The last part of an image's name: `webhook` for `registry:5000/team/webhook:v1@sha256:…`.
fn short_image_name(image: &str) -> &str {
    let without_digest = image.split_once('@').map_or(image, |(name, _)| name);
    let last = without_digest.rsplit_once('/').map_or(without_digest, |(_, last)| last);
    last.split_once(':').map_or(last, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_named_like_its_image_without_registry_tag_and_digest() {
        for (image, name) in [
            ("webhook", "webhook"),
            ("webhook:v1", "webhook"),
            ("registry.example:5000/team/webhook", "webhook"),
            ("registry.example:5000/team/webhook:v1@sha256:00", "webhook"),
        ] {
            assert_eq!(short_image_name(image), name);
        }
    }
}
