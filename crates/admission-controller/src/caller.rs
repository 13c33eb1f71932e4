//! Who sent a review, and which resource they named: fields of an AdmissionReview that only two webhooks need.

use serde::Deserialize;
use webhook::review::GroupVersionResource;

/// Who sent a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// The user's name.
    pub username: String,
    /// The user's groups.
    pub groups: Vec<String>,
}

/// Who sent a review, and which resource they named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Who sent it.
    pub user: UserInfo,
    /// The resource of the original request, if the review has it: that of the webhook's rule may be another version.
    pub request_resource: Option<GroupVersionResource>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReviewFields {
    request: Option<RequestFields>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestFields {
    user_info: Option<UserFields>,
    request_resource: Option<GroupVersionResource>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UserFields {
    username: Option<String>,
    groups: Option<Vec<String>>,
}

impl Caller {
    /// Reads the fields from the body of a review.
    ///
    /// # Errors
    /// If the body is not JSON, or a field has the wrong type.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
        let review: ReviewFields = formats::json::read(text)?;
        let RequestFields { user_info, request_resource } = review.request.unwrap_or_default();
        let user = user_info.unwrap_or_default();
        let user =
            UserInfo { username: user.username.unwrap_or_default(), groups: user.groups.unwrap_or_default() };
        Ok(Self { user, request_resource })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_and_the_named_resource_are_read() {
        let body = br#"{"kind":"AdmissionReview","request":{"uid":"u","userInfo":{"username":"a","groups":["b","c"],
            "extra":{"x":["y"]}},"requestResource":{"group":"g","version":"v","resource":"r"},"object":{"a":[1]}}}"#;
        let caller = Caller::read(body).unwrap();
        let text = str::to_owned;
        assert_eq!(caller.user, UserInfo { username: text("a"), groups: vec![text("b"), text("c")] });
        let resource = GroupVersionResource { group: text("g"), version: text("v"), resource: text("r") };
        assert_eq!(caller.request_resource, Some(resource));
        assert_eq!(Caller::read(br#"{"request":{"userInfo":null}}"#).unwrap(), Caller::default());
        assert_eq!(Caller::read(b"{}").unwrap(), Caller::default());
        assert!(Caller::read(b"{").is_err());
        assert!(Caller::read(br#"{"request":{"userInfo":{"username":1}}}"#).is_err());
    }
}
