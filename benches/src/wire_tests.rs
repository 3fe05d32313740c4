use super::*;

#[test]
fn every_task_is_done_over_a_real_connection() {
    let to = serve().unwrap();
    assert!(download(to, 3, 3 << 20).unwrap() > 0.0);
    assert_eq!(ping(to, 4, 10).unwrap().len(), 12);
    assert_eq!(open(to, 5).unwrap().len(), 5);
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(ping(nobody, 1, 1).is_err() && open(nobody, 1).is_err() && download(nobody, 2, 2).is_err());
}
