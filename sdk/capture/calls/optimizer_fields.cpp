#include "sdk/capture/calls/call_fields.h"

namespace frugal {

void VisitFields(CallVisitor& visitor, SgdArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("momentum", arguments.momentum);
  visitor.Attribute("dampening", arguments.dampening);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("nesterov", arguments.nesterov);
  visitor.Attribute("first_step", arguments.first_step);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
  visitor.Attribute("noise_key", arguments.noise_key);
}

void VisitFields(CallVisitor& visitor, AdamArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("beta1", arguments.beta1);
  visitor.Attribute("beta2", arguments.beta2);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("decoupled", arguments.decoupled);
  visitor.Attribute("step", arguments.step);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
  visitor.Attribute("noise_key", arguments.noise_key);
}

void VisitFields(CallVisitor& visitor, RmsPropArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("alpha", arguments.alpha);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("momentum", arguments.momentum);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
}

void VisitFields(CallVisitor& visitor, AdagradArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("rate_decay", arguments.rate_decay);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("step", arguments.step);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
}

void VisitFields(CallVisitor& visitor, AdadeltaArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("rho", arguments.rho);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
}

void VisitFields(CallVisitor& visitor, NAdamArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("beta1", arguments.beta1);
  visitor.Attribute("beta2", arguments.beta2);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("decoupled", arguments.decoupled);
  visitor.Attribute("momentum_decay", arguments.momentum_decay);
  visitor.Attribute("step", arguments.step);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
}

void VisitFields(CallVisitor& visitor, RAdamArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("beta1", arguments.beta1);
  visitor.Attribute("beta2", arguments.beta2);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("decoupled", arguments.decoupled);
  visitor.Attribute("step", arguments.step);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
}

void VisitFields(CallVisitor& visitor, AdamaxArguments& arguments) {
  visitor.Attribute("learning_rate", arguments.learning_rate);
  visitor.Attribute("beta1", arguments.beta1);
  visitor.Attribute("beta2", arguments.beta2);
  visitor.Attribute("epsilon", arguments.epsilon);
  visitor.Attribute("weight_decay", arguments.weight_decay);
  visitor.Attribute("step", arguments.step);
  visitor.Attribute("gradient_scale", arguments.gradient_scale);
}

}  // namespace frugal
