//! Serialisation of the garden's objects.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Quantity;

/// Fields that v1.82 does not know, by name.
pub type Unknown = BTreeMap<String, Value>;

/// Whether a value is omitted when its object is written: empty options, lists, maps and objects.
pub(crate) trait Absent {
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<K, V> Absent for BTreeMap<K, V> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Absent for Quantity {
    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl Absent for String {}
impl Absent for bool {}
impl Absent for i32 {}

/// Reads null as Go does: like a missing field.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Defines objects: structs with the API's field names, and a map for unknown fields.
macro_rules! object {
    ($($(#[$about:meta])* $name:ident { $($(#[$said:meta])* $field:ident: $type:ty,)* })+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $($(#[$said])*
            #[serde(
                deserialize_with = "crate::garden::object::or_default",
                skip_serializing_if = "crate::garden::object::Absent::is_absent"
            )]
            pub $field: $type,)*
            /// Fields that v1.82 does not know.
            #[serde(flatten)]
            pub unknown: crate::garden::object::Unknown,
        }

        impl crate::garden::object::Absent for $name {
            fn is_absent(&self) -> bool {
                *self == Self::default()
            }
        }
    )+};
}

/// Defines a kind: an object with metadata that an API server serves. The group is that of the module after `of`, and
/// `core.gardener.cloud/v1beta1` without one.
macro_rules! kind {
    (
        $(#[$about:meta])*
        $name:ident, $kind:literal, $list:literal, $plural:literal, $scope:ident { $($fields:tt)* }
    ) => {
        kind! {
            $(#[$about])*
            $name, $kind, $list, $plural, $scope of garden { $($fields)* }
        }
    };
    (
        $(#[$about:meta])*
        $name:ident, $kind:literal, $list:literal, $plural:literal, $scope:ident of $($group:ident)::+ {
            $($(#[$said:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            /// Group and version, such as `core.gardener.cloud/v1beta1`.
            #[cfg_attr(feature = "schema", schemars(skip))]
            pub api_version: String,
            /// Its kind.
            #[cfg_attr(feature = "schema", schemars(skip))]
            pub kind: String,
            /// Name, labels, annotations.
            #[serde(deserialize_with = "crate::garden::object::or_default")]
            #[cfg_attr(feature = "schema", schemars(skip))]
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            $($(#[$said])*
            #[serde(
                deserialize_with = "crate::garden::object::or_default",
                skip_serializing_if = "crate::garden::object::Absent::is_absent"
            )]
            pub $field: $type,)*
            /// Fields that v1.82 does not know.
            #[serde(flatten)]
            pub unknown: crate::garden::object::Unknown,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    api_version: crate::$($group)::+::API_VERSION.to_owned(),
                    kind: $kind.to_owned(),
                    metadata: Default::default(),
                    $($field: Default::default(),)*
                    unknown: Default::default(),
                }
            }
        }

        impl k8s_openapi::Resource for $name {
            const API_VERSION: &'static str = crate::$($group)::+::API_VERSION;
            const GROUP: &'static str = crate::$($group)::+::GROUP;
            const KIND: &'static str = $kind;
            const VERSION: &'static str = crate::$($group)::+::VERSION;
            const URL_PATH_SEGMENT: &'static str = $plural;
            type Scope = k8s_openapi::$scope;
        }

        impl k8s_openapi::ListableResource for $name {
            const LIST_KIND: &'static str = $list;
        }

        impl k8s_openapi::Metadata for $name {
            type Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

            fn metadata(&self) -> &Self::Ty {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut Self::Ty {
                &mut self.metadata
            }
        }
    };
}
