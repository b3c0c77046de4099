// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/driver_model.hpp"

#include "driver/driver_version.hpp"

namespace gdrkit::fakes {
namespace {

DriverModel newer(DriverModel model, const char* version) {
  model.version = version;
  return model;
}

std::vector<DriverModel> make_models() {
  std::vector<DriverModel> models;
  DriverModel m{"515.43.04", 24, 40, 436, 2600, false, false, false, false, 0};
  models.push_back(m);
  m.reports_caching = true;
  models.push_back(m = newer(m, "525.60.11"));
  m.has_version_query = true;
  models.push_back(m = newer(m, "530.30.02"));
  m.alloc_status_at = 28;
  m.alloc_long_bytes = 48;
  models.push_back(m = newer(m, "535.43.02"));
  m.fb_info_bytes = 444;
  models.push_back(m = newer(m, "545.23.06"));
  m.has_wait_open = true;
  models.push_back(m = newer(m, "550.40.07"));
  m.fb_info_bytes = 460;
  models.push_back(m = newer(m, "560.28.03"));
  m.maps_discontiguously = true;
  models.push_back(m = newer(m, "565.57.01"));
  m.export_bytes = 2608;
  models.push_back(m = newer(m, "570.86.15"));
  m.fb_info_bytes = 1028;
  models.push_back(m = newer(m, "580.65.06"));
  models.push_back(m = newer(m, "595.45.04"));
  models.push_back(newer(m, "620.6.0"));
  return models;
}

}  // namespace

const std::vector<DriverModel>& driver_models() {
  static const std::vector<DriverModel> models = make_models();
  return models;
}

DriverModel driver_model(std::string_view version) {
  const auto requested = driver::parse_driver_version(version).value();
  DriverModel found = driver_models().front();
  for (const DriverModel& model : driver_models()) {
    if (driver::parse_driver_version(model.version).value() <= requested) found = model;
  }
  found.version = version;
  return found;
}

DriverModel alien_driver_model() {
  DriverModel model = driver_model("580.200.01");
  model.extra_bytes = 8;
  return model;
}

}  // namespace gdrkit::fakes
