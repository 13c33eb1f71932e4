//! Bodies in `application/vnd.kubernetes.protobuf`: the prefix `k8s\0`, then an envelope with apiVersion, kind, and
//! the message.

mod message;
mod scalar;
mod wire;

use serde_json::Value;
use webhook::field::quote;
use wire::{BYTES, WireError, WireReader};

use crate::http::status::Status;
use crate::object::body_kind::BodyKind;
use crate::object::group_version::GroupVersion;

/// The media type.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const PREFIX: &[u8] = b"k8s\0";
/// Length of the part of a body that an error shows, in bytes.
const SUMMARY_LENGTH: usize = 30;
/// The envelope, `runtime.Unknown`. Like kube-apiserver, this ignores its encoding and content type.
#[derive(Debug, Default, PartialEq)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

/// The error of decoding a body.
#[derive(Debug, PartialEq)]
pub(crate) enum DecodeError {
    /// The kind of the body could not be determined.
    Unrecognized(String),
    /// The body is of this kind and version, and invalid.
    Invalid {
        /// `Pod`.
        kind: String,
        /// `v1`.
        version: String,
        /// The error message.
        why: String,
    },
}

impl DecodeError {
    /// The error about a kind that is not registered.
    pub(crate) fn unregistered(kind: &str, api_version: &str) -> Self {
        let (group, version_only) = api_version.split_once('/').unwrap_or(("", api_version));
        let why = GroupVersion { group, version: version_only }.unregistered(kind);
        Self::Invalid { kind: kind.to_owned(), version: version(api_version).to_owned(), why }
    }

    /// The answer to a request whose body should have the kind `body_kind`.
    pub(crate) fn into_status(self, body_kind: &BodyKind<'_>, body: &[u8]) -> Status {
        let wanted = body_kind.kind;
        Status::bad_request(match self {
            Self::Unrecognized(why) => {
                let shown = summary(body);
                format!("the object provided is unrecognized (must be of type {wanted}): {why} ({shown})")
            }
            Self::Invalid { kind, version, why } => {
                let version = quote(&version);
                format!("{kind} in version {version} cannot be handled as a {wanted}: {why}")
            }
        })
    }

    /// The answer to a request whose body should be delete options.
    pub(crate) fn into_options_status(self) -> Status {
        let (Self::Unrecognized(why) | Self::Invalid { why, .. }) = self;
        Status::bad_request(why)
    }
}

/// Decodes a body into the JSON that Go encodes for it; `body_kind` is the kind if the envelope has none.
pub(crate) fn decode(body: &[u8], body_kind: &BodyKind<'_>) -> Result<Value, DecodeError> {
    let mut envelope = envelope(body).map_err(DecodeError::Unrecognized)?;
    if envelope.kind.is_empty() {
        body_kind.kind.clone_into(&mut envelope.kind);
    }
    if version(&envelope.api_version).is_empty() {
        envelope.api_version = body_kind.api_version();
    }
    let (kind, api_version) = (envelope.kind, envelope.api_version);
    let invalid =
        |why| DecodeError::Invalid { kind: kind.clone(), version: version(&api_version).to_owned(), why };
    let message = body_kind
        .message(&api_version, &kind)
        .ok_or_else(|| DecodeError::unregistered(&kind, &api_version))?;
    let mut object = message::decode(message, envelope.raw).map_err(|error| invalid(error.to_string()))?;
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    Ok(object)
}

fn envelope(body: &[u8]) -> Result<Envelope<'_>, String> {
    if body.is_empty() {
        return Err("empty data".to_owned());
    }
    let data = body.strip_prefix(PREFIX).ok_or_else(|| {
        let prefix = PREFIX.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
        format!("provided data does not appear to be a protobuf message, expected prefix [{prefix}]")
    })?;
    if data.is_empty() {
        return Err("empty body".to_owned());
    }
    read_envelope(data).map_err(|error| error.to_string())
}

fn read_envelope(data: &[u8]) -> Result<Envelope<'_>, WireError> {
    let mut envelope = Envelope::default();
    let mut reader = WireReader::new(data);
    while let Some(tag) = reader.tag("Unknown")? {
        match tag.field {
            1 => read_type_meta(reader.value(tag, BYTES, || "TypeMeta".to_owned())?.bytes(), &mut envelope)?,
            2 => envelope.raw = reader.value(tag, BYTES, || "Raw".to_owned())?.bytes(),
            3 | 4 => {
                let name = if tag.field == 3 { "ContentEncoding" } else { "ContentType" };
                reader.value(tag, BYTES, || name.to_owned())?;
            }
            _ => reader.skip(tag)?,
        }
    }
    Ok(envelope)
}

fn read_type_meta(bytes: &[u8], envelope: &mut Envelope<'_>) -> Result<(), WireError> {
    let mut reader = WireReader::new(bytes);
    while let Some(tag) = reader.tag("TypeMeta")? {
        match tag.field {
            1 => {
                let found = reader.value(tag, BYTES, || "APIVersion".to_owned())?;
                envelope.api_version = scalar::text(found.bytes());
            }
            2 => envelope.kind = scalar::text(reader.value(tag, BYTES, || "Kind".to_owned())?.bytes()),
            _ => reader.skip(tag)?,
        }
    }
    Ok(())
}

fn version(api_version: &str) -> &str {
    api_version.rsplit('/').next().unwrap_or_default()
}

/// The beginning of a body, as kube-apiserver's errors show it.
fn summary(body: &[u8]) -> String {
    let (shown, more) = match body.get(..SUMMARY_LENGTH) {
        Some(shown) if body.len() > SUMMARY_LENGTH => (shown, " ..."),
        _ => (body, ""),
    };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(shown).into_owned() + more,
        Some(_) => shown.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")) + more,
    }
}

#[cfg(test)]
mod tests;
