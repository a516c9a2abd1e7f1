//! The profile that confines a command on a Mac, read back and looked over. That it does
//! there what its words say, only a Mac can show.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod seatbelt;

use std::path::{Path, PathBuf};

use perimeter::seatbelt::preview;
use perimeter::{Network, Posture};
use seatbelt::policies::*;
use seatbelt::{Form, rules};

#[test]
fn the_version_is_first_and_everything_is_denied_next() {
    for (_, text) in profiles() {
        assert!(text.starts_with("(version 1)\n"));
        let rules = rules(&text);
        assert!(!rules[0].allow && rules[0].operations == ["default"]);
        assert!(rules[0].filters.is_empty());
    }
}

#[test]
fn no_rule_allows_every_file_or_the_whole_disk() {
    every(|_, rules| {
        for rule in rules.iter().filter(|rule| rule.allow) {
            let files = rule.operations.iter().any(|name| {
                ["file", "process-exec", "network", "mach", "default"]
                    .iter()
                    .any(|start| name.starts_with(start))
            });
            assert!(!files || !rule.filters.is_empty(), "{rule:?}");
            assert!(!rule.paths("subpath").contains(&"/"), "{rule:?}");
        }
    });
}

#[test]
fn the_root_is_readable_and_nothing_beneath_it_is_for_that() {
    every(|_, rules| {
        assert!(allowed(rules, "file-read-data", "/"));
        assert!(allowed(rules, "file-read-metadata", "/"));
        assert!(!allowed(rules, "file-read-metadata", "/cores"));
        assert!(!allowed(rules, "file-write-create", "/new"));
    });
}

#[test]
fn a_rule_is_shorter_than_the_compilers_limit() {
    let many: Vec<String> = (0..2000)
        .map(|number| format!("/Users/me/project/a-directory-with-a-long-name/{number:05}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let policy = policy(Posture::Strict, Network::Host, [&[], &[], &many]);
    let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
    assert!(rules.iter().all(|rule| rule.length < 16 * 1024));
    for path in many {
        assert!(!allowed(&rules, "file-read-data", path));
    }
}

#[test]
fn every_path_of_a_rule_is_spelled_as_the_kernel_spells_it() {
    every(|_, rules| {
        let looked: [&str; 3] = ["/tmp", "/var", "/etc"];
        for rule in rules {
            for path in [rule.paths("literal"), rule.paths("subpath")].concat() {
                assert!(Path::new(path).is_absolute(), "{path}");
                assert!(!path.starts_with("/System/Volumes/Data"), "{path}");
                let through = looked
                    .iter()
                    .any(|link| Path::new(path).starts_with(link) && path != *link);
                assert!(!through, "{path} goes through a link");
            }
        }
        // The links themselves are looked at on the way.
        for link in looked {
            assert!(allowed(rules, "file-read-metadata", link), "{link}");
        }
    });
}

#[test]
fn the_way_to_what_is_readable_can_be_looked_at() {
    every(|policy, rules| {
        let mut reached = vec![WORKSPACE.to_owned()];
        for path in policy.read_only.iter().chain(&policy.read_write) {
            let path = perimeter::seatbelt::real_spelling(path);
            reached.push(path.display().to_string());
        }
        for path in reached {
            for part in Path::new(&path).ancestors() {
                let part = part.to_str().unwrap();
                assert!(allowed(rules, "file-read-metadata", part), "{part}");
                assert!(allowed_flat(rules, "file-read-metadata", part), "{part}");
            }
            assert!(allowed(rules, "file-read-data", &path), "{path}");
        }
        // It is no list of what is there.
        assert!(!allowed(rules, "file-read-data", "/Users"));
        assert!(!allowed(rules, "file-read-metadata", "/Users/other"));
    });
}

#[test]
fn what_is_hidden_is_so_for_every_operation_by_name() {
    every(|policy, rules| {
        for hidden in &policy.hidden {
            let real = perimeter::seatbelt::real_spelling(hidden);
            let root = real.to_str().unwrap();
            let inner = format!("{root}/x");
            let is_way = |path: &str| {
                policy
                    .read_only
                    .iter()
                    .chain(&policy.read_write)
                    .map(|path| perimeter::seatbelt::real_spelling(path))
                    .chain([PathBuf::from(WORKSPACE)])
                    .any(|shown| shown.starts_with(path))
            };
            for path in [root, &inner] {
                for operation in READING.iter().chain(&WRITING) {
                    let looking = ["file-read-metadata", "file-test-existence"];
                    if is_way(path) && looking.contains(operation) {
                        continue;
                    }
                    assert!(!allowed(rules, operation, path), "{operation} {path}");
                    assert!(!allowed_flat(rules, operation, path), "{operation} {path}");
                }
                let connects = rules.iter().rev().find(|rule| {
                    rule.is_about("network-outbound")
                        && rule
                            .paths("subpath")
                            .iter()
                            .any(|above| Path::new(path).starts_with(above))
                });
                assert!(connects.is_none_or(|rule| !rule.allow), "{path}");
            }
        }
    });
}

#[test]
fn no_wildcard_stands_alone_where_something_is_hidden() {
    // A rule about a child that came before would outweigh it.
    every(|_, rules| {
        for rule in rules.iter().filter(|rule| !rule.filters.is_empty()) {
            let denies = !rule.allow && !rule.subpaths.is_empty();
            if denies && rule.is_about("file-read*") {
                assert!(READING.iter().all(|name| rule.is_about(name)), "{rule:?}");
            }
            if denies && rule.is_about("file-write*") {
                assert!(WRITING.iter().all(|name| rule.is_about(name)), "{rule:?}");
            }
        }
    });
}

#[test]
fn order_and_operation_agree() {
    // Whichever of the two decides first, the outcome is the same.
    every(|_, rules| {
        let mut paths: Vec<String> = rules
            .iter()
            .flat_map(|rule| [rule.paths("literal"), rule.paths("subpath")].concat())
            .map(str::to_owned)
            .collect();
        paths.extend(paths.clone().iter().map(|path| format!("{path}/x")));
        for path in paths {
            for operation in READING.iter().chain(&WRITING) {
                assert_eq!(
                    allowed(rules, operation, &path),
                    allowed_flat(rules, operation, &path),
                    "{operation} {path}"
                );
            }
        }
    });
}

#[test]
fn what_is_hidden_or_leads_to_it_stays_in_its_place() {
    let policy = policy(Posture::Strict, Network::Host, LISTS[2]);
    let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
    for path in [
        "/Users/me/project",
        "/Users/me/project/a",
        "/Users/me/project/a/b",
        "/Users/me/project/a/b/secret",
        "/Users/me/project/.env",
    ] {
        assert!(!allowed(&rules, "file-write-unlink", path), "{path}");
    }
    assert!(allowed(
        &rules,
        "file-write-unlink",
        "/Users/me/project/a/b/other"
    ));
    assert!(allowed(
        &rules,
        "file-write-create",
        "/Users/me/project/a/new"
    ));
}

#[test]
fn sockets_of_agents_are_out_of_reach() {
    every(|_, rules| {
        for rule in rules.iter().filter(|rule| rule.allow) {
            if rule
                .operations
                .iter()
                .any(|name| name.starts_with("network"))
            {
                for path in rule.paths("subpath") {
                    let shared = ["/private/tmp", "/private/var/tmp", "/private/var/run"];
                    assert!(!shared.contains(&path), "{rule:?}");
                    assert!(!path.ends_with("/T") && !path.ends_with("/C"), "{rule:?}");
                }
            }
        }
    });
}

#[test]
fn without_a_network_no_address_is_reached() {
    every(|policy, rules| {
        let addresses = rules.iter().any(|rule| {
            rule.allow
                && rule
                    .operations
                    .iter()
                    .any(|name| name.starts_with("network"))
                && rule.filters.iter().any(|filter| {
                    let list = filter.list();
                    list.get(1) == Some(&Form::Word("ip".into()))
                })
        });
        assert_eq!(addresses, policy.network == Network::Host);
        let names = rules.iter().any(|rule| {
            rule.allow
                && rule.is_about("network-outbound")
                && rule
                    .paths("literal")
                    .contains(&"/private/var/run/mDNSResponder")
        });
        assert_eq!(names, policy.network == Network::Host);
    });
}

#[test]
fn nothing_that_deny_default_leaves_open_stays_open() {
    every(|_, rules| {
        for operation in [
            "process-info*",
            "file-link",
            "file-clone",
            "file-map-executable",
            "file-test-existence",
            "nvram*",
            "iokit-get-properties",
        ] {
            let denied = rules
                .iter()
                .any(|rule| !rule.allow && rule.is_about(operation) && rule.filters.is_empty());
            assert!(denied, "{operation}");
        }
        let arguments = rules.iter().any(|rule| {
            !rule.allow
                && rule.is_about("sysctl-read")
                && rule.paths("sysctl-name-prefix").contains(&"kern.procargs")
        });
        assert!(arguments);
        let typing = rules.iter().any(|rule| {
            !rule.allow
                && rule.is_about("file-ioctl")
                && format!("{:?}", rule.filters).contains("80017472")
        });
        assert!(typing);
        for service in [
            "SecurityServer",
            "securityd",
            "pasteboard",
            "launchservices",
        ] {
            let named = rules.iter().any(|rule| {
                rule.allow
                    && rule
                        .paths("global-name")
                        .iter()
                        .any(|name| name.contains(service))
            });
            assert!(!named, "{service}");
        }
    });
}
