//! ShootDNS: the domain of a Shoot, and the provider of its DNS records.

mod default_domains;

use api::garden::Shoot;
use api::garden::shoot::dns::{Dns, DnsProvider};
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;
use webhook::review::Operation;

use self::default_domains::DefaultDomains;
use super::shoot_support::{NO_SHOOT, internal, invalid, is_shoot, project_of, read_shoot, write_changes};
use super::{Admit, Attributes, Plugin};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_DNS,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

/// The type of providers that Gardener leaves alone.
const UNMANAGED: &str = "unmanaged";
/// Letters of a generated name.
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// How many letters more than its prefix a generated name has.
const GENERATED: usize = 5;

/// Whether the rest of the rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Stop,
    CheckProviders,
    Complete,
}

/// A created or updated Shoot, or its binding to a Seed, even if it is being deleted: GPL-DNS-010, GPL-DNS-012.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    let is_judged = is_shoot(attributes) && matches!(attributes.subresource, "" | "binding");
    if !is_judged || !matches!(attributes.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let before = read_shoot(object.as_deref(), NO_SHOOT)?;
    let domains = DefaultDomains::read(attributes.objects)
        .map_err(|why| Rejection::errored(500, format!("error retrieving default domains: {why}")))?;
    let mut shoot = before.clone();
    decide(attributes, &domains, &mut shoot)?;
    object.map_or(Ok(()), |object| write_changes(object, &before, &shoot))
}

fn decide(attributes: &Attributes<'_>, domains: &DefaultDomains, shoot: &mut Shoot) -> Result<(), Rejection> {
    check_primary(domains, shoot)?;
    let next = if attributes.operation == Operation::Create {
        of_new(attributes, domains, shoot)?
    } else {
        let old = read_shoot(attributes.old, "could not convert old resource into Shoot object")?;
        of_changed(attributes, domains, &old, shoot)?
    };
    if next == Next::Complete {
        complete(attributes, domains, shoot)?;
    }
    if next == Next::Stop { Ok(()) } else { check_providers(shoot) }
}

/// Without a Seed, a new Shoot gets neither domain nor primary provider: GPL-DNS-003.
fn of_new(attributes: &Attributes<'_>, domains: &DefaultDomains, shoot: &Shoot) -> Result<Next, Rejection> {
    if domain(shoot).is_some() && !is_unmanaged(shoot) {
        check_scheme(attributes, domains, shoot)?;
    }
    Ok(if shoot.spec.seed_name.is_none() { Next::Stop } else { Next::Complete })
}

/// The scheme is checked until a Shoot has both Seed and domain. A Shoot with a Seed gets a domain when it gets the
/// Seed, also by binding, or when it has no section about DNS: GPL-DNS-004, GPL-DNS-006, GPL-DNS-011.
fn of_changed(
    attributes: &Attributes<'_>,
    domains: &DefaultDomains,
    old: &Shoot,
    shoot: &mut Shoot,
) -> Result<Next, Rejection> {
    let was_scheduled = old.spec.seed_name.is_some();
    let is_unchecked = !was_scheduled || domain(old).is_none();
    if is_unchecked && domain(shoot).is_some() && !is_unmanaged(shoot) {
        check_scheme(attributes, domains, shoot)?;
    }
    if let (Some(before), Some(after)) = (&old.spec.dns, &mut shoot.spec.dns) {
        restore_primary(before, after);
    }
    if shoot.spec.seed_name.is_none() {
        return Ok(Next::Stop);
    }
    Ok(if was_scheduled && shoot.spec.dns.is_some() { Next::CheckProviders } else { Next::Complete })
}

/// The provider that was the primary one is it again if no other is: GPL-DNS-005.
fn restore_primary(before: &Dns, after: &mut Dns) {
    let Some(was) = primary(&before.providers) else { return };
    if primary(&after.providers).is_some() {
        return;
    }
    let is_same =
        |provider: &&mut DnsProvider| provider.type_ == was.type_ && provider.secret_name == was.secret_name;
    if let Some(provider) = after.providers.iter_mut().find(is_same) {
        provider.primary = Some(true);
    }
}

/// Generates a domain if none is set, and makes the first provider the primary one where the domain is not a default
/// one: GPL-DNS-007 to -009.
fn complete(
    attributes: &Attributes<'_>,
    domains: &DefaultDomains,
    shoot: &mut Shoot,
) -> Result<(), Rejection> {
    if !is_unmanaged(shoot) {
        generate(attributes, domains, shoot)?;
        if domain(shoot).is_none() {
            let detail =
                format!("shoot domain field .spec.dns.domain must be set if provider != {UNMANAGED}");
            return Err(invalid(shoot, &[Error::required(&Path::new("spec").child("DNS"), &detail)]));
        }
    }
    check_primary(domains, shoot)?;
    let is_default = domain(shoot).is_some_and(|domain| domains.matching(domain).is_some());
    if let Some(dns) = shoot.spec.dns.as_mut().filter(|_| !is_default)
        && primary(&dns.providers).is_none()
        && let Some(first) = dns.providers.first_mut()
    {
        first.primary = Some(true);
    }
    Ok(())
}

/// A generated name is not known yet, so that its domain has a name of its own.
fn generate(
    attributes: &Attributes<'_>,
    domains: &DefaultDomains,
    shoot: &mut Shoot,
) -> Result<(), Rejection> {
    let project = project_of(attributes.objects, attributes.namespace).map_err(|why| internal(&why))?;
    let dns = shoot.spec.dns.get_or_insert_default();
    let (None, Some(default)) = (&dns.domain, domains.first()) else { return Ok(()) };
    let metadata = &shoot.metadata;
    let (name, prefix) =
        (metadata.name.clone().unwrap_or_default(), metadata.generate_name.clone().unwrap_or_default());
    let name = if name.is_empty() && !prefix.is_empty() {
        (0..prefix.len() + GENERATED).map(|_| letter(attributes.random)).collect()
    } else {
        name
    };
    let project = project.metadata.name.unwrap_or_default();
    dns.domain = Some(format!("{name}.{project}.{default}"));
    Ok(())
}

fn letter(random: &dyn Fn(u64) -> u64) -> char {
    let drawn = usize::try_from(random(36)).ok().and_then(|index| LETTERS.get(index));
    drawn.map_or('0', |letter| char::from(*letter))
}

/// A default domain goes without a primary provider: GPL-DNS-001.
fn check_primary(domains: &DefaultDomains, shoot: &Shoot) -> Result<(), Rejection> {
    let is_default = domain(shoot).is_some_and(|domain| domains.matching(domain).is_some());
    let has_primary = shoot.spec.dns.as_ref().is_some_and(|dns| primary(&dns.providers).is_some());
    if is_default && has_primary {
        return Err(wrong_dns(shoot, "primary dns provider must not be set when default domain is used"));
    }
    Ok(())
}

/// What is below a default domain begins with names of Shoot and Project: GPL-DNS-002.
fn check_scheme(
    attributes: &Attributes<'_>,
    domains: &DefaultDomains,
    shoot: &Shoot,
) -> Result<(), Rejection> {
    let project = project_of(attributes.objects, attributes.namespace).map_err(|why| internal(&why))?;
    let Some(domain) = domain(shoot) else { return Ok(()) };
    let Some(default) = domains.matching(domain) else { return Ok(()) };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (name, prefix) = (text(&shoot.metadata.name), text(&shoot.metadata.generate_name));
    let below = format!(".{}.{default}", text(&project.metadata.name));
    let is_generated = !prefix.is_empty() && (name.is_empty() || name.starts_with(&prefix));
    let (is_kept, detail) = if is_generated {
        let detail = "shoot with 'metadata.generateName' uses a default domain but does not match expected scheme: \
                      <random-subdomain>.<project-name>.<default-domain>";
        (domain.ends_with(&below), detail)
    } else {
        let detail = "shoot uses a default domain but does not match expected scheme: \
                      <shoot-name>.<project-name>.<default-domain>";
        (domain == format!("{name}{below}"), detail)
    };
    if is_kept { Ok(()) } else { Err(wrong_dns(shoot, detail)) }
}

/// A provider that is not the primary one has a type and a Secret: GPL-DNS-009.
fn check_providers(shoot: &Shoot) -> Result<(), Rejection> {
    let mut providers = shoot.spec.dns.iter().flat_map(|dns| &dns.providers);
    let has_no_function = |provider: &DnsProvider| {
        provider.primary != Some(true) && (provider.type_.is_none() || provider.secret_name.is_none())
    };
    if providers.any(has_no_function) {
        let detail =
            "non-primary DNS providers in .spec.dns.providers must specify a `type` and `secretName`";
        let at = Path::new("spec").child("dns").child("providers");
        return Err(invalid(shoot, &[Error::required(&at, detail)]));
    }
    Ok(())
}

fn wrong_dns(shoot: &Shoot, detail: &str) -> Rejection {
    let name = shoot.metadata.name.as_deref().unwrap_or_default();
    invalid(shoot, &[Error::invalid(&Path::new("spec").child("dns"), name, detail)])
}

fn domain(shoot: &Shoot) -> Option<&str> {
    shoot.spec.dns.as_ref()?.domain.as_deref()
}

fn primary(providers: &[DnsProvider]) -> Option<&DnsProvider> {
    providers.iter().find(|provider| provider.primary == Some(true))
}

/// Whether the primary provider, or the first one without a primary one, is unmanaged.
fn is_unmanaged(shoot: &Shoot) -> bool {
    let Some(dns) = &shoot.spec.dns else { return false };
    let provider = primary(&dns.providers).or_else(|| dns.providers.first());
    provider.is_some_and(|provider| provider.type_.as_deref() == Some(UNMANAGED))
}

#[cfg(test)]
mod tests;
