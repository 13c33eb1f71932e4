//! The issuers of ServiceAccounts' tokens.

use api::garden::shoot::api_server::ServiceAccountConfig;

/// The issuer of new tokens, and those whose tokens are accepted, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenIssuers {
    pub(super) issuer: String,
    pub(super) accepted: Vec<String>,
}

impl TokenIssuers {
    /// The default issuer stays accepted where another one is configured, and is not listed where it is the issuer. OPC-082.
    pub(super) fn new(config: Option<&ServiceAccountConfig>, default: String) -> Self {
        let Some(config) = config else { return Self { issuer: default, accepted: Vec::new() } };
        let mut accepted = config.accepted_issuers.clone();
        let listed = accepted.iter().position(|known| *known == default);
        let Some(issuer) = config.issuer.clone() else {
            if let Some(index) = listed {
                accepted.remove(index);
            }
            return Self { issuer: default, accepted };
        };
        if issuer != default && listed.is_none() {
            accepted.push(default);
        }
        Self { issuer, accepted }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, &[], "default", &[])]
    #[case(None, &["a", "default", "b"], "default", &["a", "b"])]
    #[case(Some("own"), &[], "own", &["default"])]
    #[case(Some("own"), &["default", "a"], "own", &["default", "a"])]
    #[case(Some("own"), &["a"], "own", &["a", "default"])]
    #[case(Some("default"), &["a"], "default", &["a"])]
    fn the_default_issuer_stays_accepted(
        #[case] issuer: Option<&str>,
        #[case] configured: &[&str],
        #[case] main: &str,
        #[case] accepted: &[&str],
    ) {
        let config = ServiceAccountConfig {
            issuer: issuer.map(str::to_owned),
            accepted_issuers: configured.iter().map(|name| (*name).to_owned()).collect(),
            ..ServiceAccountConfig::default()
        };
        let issuers = TokenIssuers::new(Some(&config), "default".to_owned());
        let accepted: Vec<String> = accepted.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(issuers, TokenIssuers { issuer: main.to_owned(), accepted });
    }
}
