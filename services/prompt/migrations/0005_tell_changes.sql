-- A new prompt too: an agent may use a name that has none. A new version is an update.
create trigger prompts_tell_change after insert or update of latest_version or delete on prompts
  for each row execute function tell_change('prompt_name');
