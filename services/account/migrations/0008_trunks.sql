-- Trunks that want a registration, of all owners.
create index carriers_sip on carriers (carrier_id) where provider = 'SIP' and disconnected_at is null;
