create trigger agents_tell_change after update or delete on agents for each row execute function tell_change('agent_id');
