-- Plans that administrators put, for all nodes: their fields as words. The nodes' plans files win.
create table sluice.admin_plan (
    name  text collate "C" primary key,
    words text not null
);
