-- Finds the agents that answer a number, for calls.
create index agents_mobile_numbers on agents using gin (agent_mobile_numbers);
