//! Bodies in `application/vnd.kubernetes.protobuf`: `k8s`, a zero byte, an envelope with apiVersion and kind, the message.

mod message;
mod scalar;
mod wire;

use serde_json::Value;
use wire::{BYTES, Reader, WireError};

use crate::http::status::Status;
use crate::object::spoken::Spoken;

/// The media type.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const PREFIX: &[u8] = b"k8s\0";
/// How much of a body an error shows, in bytes.
const SHOWN: usize = 30;
/// Where the original's table of types was made: part of what it says of a kind that is not in it.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

/// The envelope: runtime.Unknown. What it says of encoding and content type nobody reads, as in the original.
#[derive(Debug, Default, PartialEq)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

/// Why a body cannot be read.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// Nothing is known of it.
    Unrecognized(String),
    /// It is of this kind and version.
    Kind {
        /// `Pod`.
        kind: String,
        /// `v1`.
        version: String,
        /// Why.
        why: String,
    },
}

impl Refusal {
    /// It says to be of a kind that nobody knows.
    pub(crate) fn unregistered(kind: &str, api_version: &str) -> Self {
        let why = format!("no kind {kind:?} is registered for version {api_version:?} in scheme {SCHEME:?}");
        Self::Kind { kind: kind.to_owned(), version: version(api_version).to_owned(), why }
    }

    /// As it is told of the body of a request for this kind.
    pub(crate) fn of(self, spoken: &Spoken<'_>, body: &[u8]) -> Status {
        let wanted = spoken.kind;
        Status::bad_request(match self {
            Self::Unrecognized(why) => {
                let shown = summary(body);
                format!("the object provided is unrecognized (must be of type {wanted}): {why} ({shown})")
            }
            Self::Kind { kind, version, why } => {
                format!("{kind} in version {version:?} cannot be handled as a {wanted}: {why}")
            }
        })
    }

    /// As it is told of options.
    pub(crate) fn of_options(self) -> Status {
        let (Self::Unrecognized(why) | Self::Kind { why, .. }) = self;
        Status::bad_request(why)
    }
}

/// The object of a body, as Go would write it in JSON; of the request's kind if it does not say.
pub(crate) fn object(body: &[u8], spoken: &Spoken<'_>) -> Result<Value, Refusal> {
    let mut envelope = envelope(body).map_err(Refusal::Unrecognized)?;
    if envelope.kind.is_empty() {
        spoken.kind.clone_into(&mut envelope.kind);
    }
    if version(&envelope.api_version).is_empty() {
        envelope.api_version = spoken.api_version();
    }
    let (kind, api_version) = (envelope.kind, envelope.api_version);
    let refused = |why| Refusal::Kind { kind: kind.clone(), version: version(&api_version).to_owned(), why };
    let message =
        spoken.message(&api_version, &kind).ok_or_else(|| Refusal::unregistered(&kind, &api_version))?;
    let mut object = message::object(message, envelope.raw).map_err(|error| refused(error.to_string()))?;
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
    unknown(data).map_err(|error| error.to_string())
}

fn unknown(data: &[u8]) -> Result<Envelope<'_>, WireError> {
    let mut envelope = Envelope::default();
    let mut reader = Reader::new(data);
    while let Some(tag) = reader.tag("Unknown")? {
        match tag.field {
            1 => type_meta(reader.piece(tag, BYTES, || "TypeMeta".to_owned())?.bytes(), &mut envelope)?,
            2 => envelope.raw = reader.piece(tag, BYTES, || "Raw".to_owned())?.bytes(),
            3 | 4 => {
                let name = if tag.field == 3 { "ContentEncoding" } else { "ContentType" };
                reader.piece(tag, BYTES, || name.to_owned())?;
            }
            _ => reader.skip(tag)?,
        }
    }
    Ok(envelope)
}

fn type_meta(bytes: &[u8], envelope: &mut Envelope<'_>) -> Result<(), WireError> {
    let mut reader = Reader::new(bytes);
    while let Some(tag) = reader.tag("TypeMeta")? {
        match tag.field {
            1 => {
                let found = reader.piece(tag, BYTES, || "APIVersion".to_owned())?;
                envelope.api_version = scalar::text(found.bytes());
            }
            2 => envelope.kind = scalar::text(reader.piece(tag, BYTES, || "Kind".to_owned())?.bytes()),
            _ => reader.skip(tag)?,
        }
    }
    Ok(())
}

fn version(api_version: &str) -> &str {
    api_version.rsplit('/').next().unwrap_or_default()
}

/// The beginning of a body, as the original shows it.
fn summary(body: &[u8]) -> String {
    let (shown, more) = match body.get(..SHOWN) {
        Some(shown) if body.len() > SHOWN => (shown, " ..."),
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
