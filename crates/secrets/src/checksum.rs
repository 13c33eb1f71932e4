//! Checksums of Go values as `github.com/mitchellh/hashstructure/v2` (format 2, zero values ignored) computes them: FNV-1 with
//! 64 bits over little-endian bytes.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Checksum of bytes, such as those of a text.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET, |hash, byte| hash.wrapping_mul(PRIME) ^ u64::from(*byte))
}

/// Checksum of a string.
pub(crate) fn text(text: &str) -> u64 {
    fnv(text.as_bytes())
}

/// Checksum of an int.
pub(crate) fn integer(number: i64) -> u64 {
    fnv(&number.to_le_bytes())
}

/// Checksum of a bool.
fn flag(flag: bool) -> u64 {
    fnv(&[u8::from(flag)])
}

/// Checksum of a byte slice.
pub(crate) fn bytes(bytes: &[u8]) -> u64 {
    list(bytes.iter().map(|byte| fnv(&[*byte])))
}

/// Checksum of a `time.Time` in UTC with whole seconds since 1970: the bytes of its `MarshalBinary`.
pub(crate) fn time(seconds: i64) -> u64 {
    /// Seconds from the year 1 to 1970.
    const TO_EPOCH: i64 = 62_135_596_800;
    let mut binary = vec![1];
    binary.extend(seconds.saturating_add(TO_EPOCH).to_be_bytes());
    binary.extend([0, 0, 0, 0, 0xff, 0xff]);
    fnv(&binary)
}

/// Checksum of a slice, from those of its elements.
pub(crate) fn list(elements: impl IntoIterator<Item = u64>) -> u64 {
    elements.into_iter().fold(0, pair)
}

/// Checksum of a map, from those of its keys and values.
pub(crate) fn map(entries: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    finish(entries.into_iter().fold(0, |hash, (key, value)| hash ^ pair(key, value)))
}

fn pair(first: u64, second: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    fnv(&bytes)
}

fn finish(hash: u64) -> u64 {
    fnv(&hash.to_le_bytes())
}

/// Checksum of a struct: fields are added in the order of their declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StructChecksum(u64);

impl StructChecksum {
    /// A struct of a type with this name, without fields.
    pub(crate) fn new(kind: &str) -> Self {
        Self(text(kind))
    }

    /// Adds a field with the checksum of its value, even that of a zero value.
    pub(crate) fn field(self, name: &str, value: u64) -> Self {
        Self(finish(self.0 ^ pair(text(name), value)))
    }

    /// Adds a field if there is a value.
    pub(crate) fn optional(self, name: &str, value: Option<u64>) -> Self {
        value.map_or(self, |value| self.field(name, value))
    }

    /// Adds a string unless it is empty.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.optional(name, (!value.is_empty()).then(|| text(value)))
    }

    /// Adds an int unless it is 0.
    pub(crate) fn integer(self, name: &str, value: i64) -> Self {
        self.optional(name, (value != 0).then(|| integer(value)))
    }

    /// Adds a bool if it is true.
    pub(crate) fn flag(self, name: &str, value: bool) -> Self {
        self.optional(name, value.then(|| flag(true)))
    }

    /// Adds bytes unless there are none.
    pub(crate) fn bytes(self, name: &str, value: &[u8]) -> Self {
        self.optional(name, (!value.is_empty()).then(|| bytes(value)))
    }

    /// Adds a slice, from the checksums of its elements, unless there are none.
    pub(crate) fn list(self, name: &str, elements: &[u64]) -> Self {
        self.optional(name, (!elements.is_empty()).then(|| list(elements.iter().copied())))
    }

    /// Adds a slice of strings unless there are none.
    pub(crate) fn texts(self, name: &str, texts: &[String]) -> Self {
        self.list(name, &texts.iter().map(|value| text(value)).collect::<Vec<_>>())
    }

    /// The checksum.
    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
