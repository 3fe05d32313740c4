use super::*;

#[test]
fn a_home_is_known_as_written_and_by_where_it_leads() {
    let dir = std::env::temp_dir().join(format!("glee-host-{}", std::process::id()));
    fs::create_dir_all(dir.join("real")).unwrap();
    let dir = fs::canonicalize(dir).unwrap();
    std::os::unix::fs::symlink("real", dir.join("link")).unwrap();
    std::os::unix::fs::symlink("/", dir.join("top")).unwrap();
    let at = dir.display();
    let passwd = format!(
        "root:x:0:0::/:/bin/sh\nd:x:2:2:d:{at}/daemon:/bin/sh\nada:x:1000:1000:Ada:{at}/link:/bin/sh\n\
         bob:x:1001:1001::{at}/absent:/bin/sh\neve:x:1002:1002::{at}/top:/bin/sh\nmax:x:1003:1003::here:/bin/sh\nodd\n"
    );
    let homes = ["absent", "link", "real", "top"].map(|name| dir.join(name)).to_vec();
    assert_eq!(table(&passwd, 1000), (Some("ada".to_owned()), homes));
    fs::remove_dir_all(&dir).unwrap();
}
