//! Taints of nodes and tolerations of Pods, compared by value.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use webhook::object::{self, WrongType};

/// A taint of a node; an empty string is an absent field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Key of the taint.
    pub key: String,
    /// Value of the taint.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// A toleration of a Pod; an empty string is an absent field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// Key of the taint; empty with `Exists` for all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// `Equal`, `Exists`, or empty for `Equal`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operator: String,
    /// Value of the taint.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Effect of the taint; empty for all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub effect: String,
    /// How long a taint of effect `NoExecute` is tolerated; `None`: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

impl Toleration {
    /// Reads a toleration of a raw Pod.
    ///
    /// # Errors
    /// When a field has the wrong type.
    pub fn read(raw: &Value) -> Result<Self, WrongType> {
        let text = |field: &str| object::text(raw, &[field]).map(ToOwned::to_owned);
        Ok(Self {
            key: text("key")?,
            operator: text("operator")?,
            value: text("value")?,
            effect: text("effect")?,
            toleration_seconds: object::integer(raw, &["tolerationSeconds"])?,
        })
    }

    /// Writes it in the API's form.
    #[must_use]
    pub fn write(&self) -> Value {
        let texts = [
            ("key", &self.key),
            ("operator", &self.operator),
            ("value", &self.value),
            ("effect", &self.effect),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let fields = texts.map(|(field, text)| (field.to_owned(), Value::from(text.as_str())));
        let seconds = self.toleration_seconds.map(|seconds| ("tolerationSeconds".to_owned(), seconds.into()));
        Value::Object(fields.chain(seconds).collect())
    }
}

impl From<&Taint> for Toleration {
    /// Tolerates exactly this taint.
    fn from(taint: &Taint) -> Self {
        Self {
            key: taint.key.clone(),
            operator: if taint.value.is_empty() { "Exists" } else { "Equal" }.to_owned(),
            value: taint.value.clone(),
            effect: taint.effect.clone(),
            toleration_seconds: None,
        }
    }
}
