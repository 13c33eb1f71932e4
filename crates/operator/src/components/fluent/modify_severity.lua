-- Programs have different names of severities: what is known gets one name, everything else stays (code 0).
local names = {
  I = "INFO", INF = "INFO", INFO = "INFO",
  W = "WARN", WRN = "WARN", WARN = "WARN", WARNING = "WARN",
  E = "ERR", ERR = "ERR", ERROR = "ERR", EROR = "ERR",
  D = "DBG", DBG = "DBG", DEBUG = "DBG",
  N = "NOTICE", NOTICE = "NOTICE",
  F = "FATAL", FATAL = "FATAL",
}

function cb_modify(tag, timestamp, record)
  local written = record.severity
  local name = type(written) == "string" and names[written:match("^%s*(.-)%s*$"):upper()]
  if not name then
    return 0, 0, 0
  end
  record.severity = name
  return 1, timestamp, record
end
