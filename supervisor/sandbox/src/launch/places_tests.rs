use super::*;

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-places-{name}-{}", std::process::id()));
        fs::create_dir_all(dir.join("p/.git")).unwrap();
        Self(fs::canonicalize(dir).unwrap())
    }

    fn places(&self) -> Places {
        let top = self.0.join("p");
        Places {
            held: BTreeMap::from([(top.clone(), path::open_exact(&top).unwrap())]),
            tops: vec![top],
            names: Names::default(),
        }
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn tree_that_stays_is_where_it_was() {
    let dir = Dir::new("stays");
    assert_eq!(dir.places().look().moved, Vec::new());
}

#[test]
fn moved_tree_is_found_and_what_took_its_place_is_not_it() {
    let dir = Dir::new("moved");
    let (places, p, q) = (dir.places(), dir.0.join("p"), dir.0.join("q"));
    fs::rename(&p, &q).unwrap();
    fs::create_dir_all(p.join(".git")).unwrap();
    let found = places.look();
    let (from, to) = (p.clone(), Some(q.clone()));
    assert_eq!(found.moved, [Moved { from, to }]);
    assert_eq!(found.now(&p.join(".git/config")), Some(q.join(".git/config")));
    assert_eq!(found.now(&p), Some(q));
    assert_eq!(found.now(&dir.0.join("pp")), Some(dir.0.join("pp")));
}

#[test]
fn removed_tree_is_nowhere() {
    let dir = Dir::new("removed");
    let (places, p) = (dir.places(), dir.0.join("p"));
    fs::remove_dir_all(&p).unwrap();
    fs::create_dir(&p).unwrap();
    let found = places.look();
    assert_eq!(found.now(&p.join("f")), None);
    assert_eq!(found.moved, [Moved { from: p, to: None }]);
}
