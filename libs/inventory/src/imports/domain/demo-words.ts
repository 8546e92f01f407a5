const words = (text: string): string[] => text.split(', ');

/** Words for the demo inventory. */
export const GIVEN_NAMES = words(
  'Ada, Aïcha, Alan, Bao, Björn, Carmen, Chidi, Dalia, Edsger, Emeka, Farah, Grace, Hedy, Ines, Jürgen, Kenji, ' +
    'Lena, Łukasz, Mei, Nadia, Olu, Priya, Quentin, Rosa, Søren, Tariq, Uma, Vera, Wei, Ximena, Yusuf, Zoë',
);
export const FAMILY_NAMES = words(
  'Okafor, Núñez, Lindqvist, Tanaka, Haddad, Kowalska, Silva, Novak, Müller, Papadopoulos, O’Brien, Nguyen, ' +
    'Achebe, Fischer, Rossi, Çelik, Dubois, Ivanova, Kim, García, Hansen, Singh, Mbeki, Li',
);
export const TEAMS = words('payments, identity, search, growth, platform, billing, mobile, research, support');
export const ENVIRONMENTS = ['prod', 'staging', 'dev', 'sandbox'];
export const REGIONS = words(
  'eu-west-1, eu-central-1, us-east-1, us-west-2, ap-southeast-2, sa-east-1, europe-west4, us-central1, ' +
    'asia-northeast1, westeurope, northeurope, eastus2',
);
export const OPERATING_SYSTEMS: readonly (readonly [string, readonly string[]])[] = [
  ['macOS', ['13.6', '14.7', '15.1', '15.2']],
  ['Windows', ['10 22H2', '11 23H2', '11 24H2']],
  ['Ubuntu', ['22.04', '24.04']],
  ['Fedora', ['41', '42']],
];
export const INFORMATION = words(
  'Patient records, Payroll, Customer contracts, Support tickets, Access logs, Risk register, Source code, ' +
    'Board minutes, Marketing contacts, Incident reports',
);
export const CUSTOM = words(
  'Badge printer, Server room key, Safe, Lab freezer, Company van, Backup tapes, Video door bell, ' + 'Label printer',
);
/** Of each type its service and a name, and what AWS Config and Azure Resource Graph call it. */
export const CLOUD_RESOURCES = [
  'CLOUD_AUTOSCALE_GROUPS autoscaling asg AWS::AutoScaling::AutoScalingGroup microsoft.compute/virtualmachinescalesets',
  'CLOUD_COMPUTE_INSTANCE ec2 vm AWS::EC2::Instance microsoft.compute/virtualmachines',
  'CLOUD_CONTAINER_REPOSITORY ecr images AWS::ECR::Repository microsoft.containerregistry/registries',
  'CLOUD_DATA_WAREHOUSE redshift warehouse AWS::Redshift::Cluster microsoft.synapse/workspaces',
  'CLOUD_LOAD_BALANCER elasticloadbalancing lb AWS::ElasticLoadBalancingV2::LoadBalancer microsoft.network/loadbalancers',
  'CLOUD_NO_SQL_DATABASE dynamodb table AWS::DynamoDB::Table microsoft.documentdb/databaseaccounts',
  'CLOUD_PAAS_APPS elasticbeanstalk app AWS::ElasticBeanstalk::Environment microsoft.web/sites',
  'CLOUD_QUEUE sqs queue AWS::SQS::Queue microsoft.servicebus/namespaces',
  'CLOUD_RELATIONAL_DATABASE rds db AWS::RDS::DBInstance microsoft.sql/servers/databases',
  'CLOUD_STORAGE_BUCKET s3 bucket AWS::S3::Bucket microsoft.storage/storageaccounts',
  'CLOUD_OTHER sns topic AWS::SNS::Topic microsoft.network/publicipaddresses',
].map((line) => {
  const [type = '', service = '', noun = '', aws = '', azure = ''] = line.split(' ');
  return { type, service, noun, aws, azure };
});
